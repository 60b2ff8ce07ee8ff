@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import Mustache

/// The page templates in one language.
///
/// Each template is parsed with its partials at its first use. Parsing all templates when the server starts would take
/// far longer than the rest of the start.
final class PageTemplates: Sendable {
    private let words: Localizer
    private let parsed = Mutex<[String: MustacheLibrary]>([:])

    private let sources: [String: [UInt8]]

    init(_ words: Localizer, sources: [String: [UInt8]]) {
        MustacheContentTypes.register(HTMLText(), named: Self.contentType)
        self.words = words
        self.sources = sources
    }

    func render(_ context: PageContext, with name: String) throws -> String {
        guard let html = try library(of: name).render(context, withTemplate: name) else {
            throw PageRenderer.Failure.noTemplate(name)
        }
        return html
    }

    func parseAll() throws {
        for name in sources.keys { _ = try library(of: name) }
    }

    private func library(of name: String) throws -> MustacheLibrary {
        if let library = parsed.withLock({ $0[name] }) { return library }
        var library = MustacheLibrary()
        var missing = [name]
        var known: Set<String> = []
        while let next = missing.popLast() {
            guard known.insert(next).inserted else { continue }
            guard let bytes = sources[next] else { throw PageRenderer.Failure.noTemplate(next) }
            let source = TemplateSource(name: next, text: String(decoding: bytes, as: UTF8.self))
            let text = "{{% CONTENT_TYPE: \(Self.contentType)}}\n" + (try source.spoken(in: words))
            try library.register(text, named: next)
            missing += source.partials
        }
        let complete = library
        return parsed.withLock { parsed in
            parsed[name] = complete
            return complete
        }
    }

    private static let contentType = "CounterfoilHTML"

    /// The templates of the protocol pages (such as sign-in and consent), and the layout and partials that all pages
    /// share.
    static let ofTheProtocol: [String: [UInt8]] = [
        "layout": PackageResources.layout_mustache,
        "sign-in": PackageResources.sign_in_mustache,
        "code": PackageResources.code_mustache,
        "code-setup": PackageResources.code_setup_mustache,
        "recovery-codes": PackageResources.recovery_codes_mustache,
        "recovery": PackageResources.recovery_mustache,
        "recovery-sent": PackageResources.recovery_sent_mustache,
        "new-password": PackageResources.new_password_mustache,
        "consent": PackageResources.consent_mustache,
        "continue": PackageResources.continue_mustache,
        "device-code": PackageResources.device_code_mustache,
        "device-done": PackageResources.device_done_mustache,
        "go-on": PackageResources.go_on_mustache,
        "sign-out": PackageResources.sign_out_mustache,
        "signed-out": PackageResources.signed_out_mustache,
        "web-view": PackageResources.web_view_mustache,
        "app-link": PackageResources.app_link_mustache,
        "problem": PackageResources.problem_mustache,
        "setup": PackageResources.setup_mustache,
        "setup-done": PackageResources.setup_done_mustache,
        "sign-up": PackageResources.sign_up_mustache,
        "sign-up-sent": PackageResources.sign_up_sent_mustache,
        "new-account": PackageResources.new_account_mustache,
        "terms": PackageResources.terms_mustache,
        "passkey-offer": PackageResources.passkey_offer_mustache,
        "mail": PackageResources.mail_mustache,
        "mail-text": PackageResources.mail_text_mustache,
        "authenticator": PackageResources.authenticator_mustache,
        "passkey-offer-state": PackageResources.passkey_offer_state_mustache,
        "code-state": PackageResources.code_state_mustache,
        "recovery-code-list": PackageResources.recovery_code_list_mustache,
        "recovery-state": PackageResources.recovery_state_mustache,
        "new-password-field": PackageResources.new_password_field_mustache,
        "note-warning": PackageResources.note_warning_mustache,
        "waiting-device": PackageResources.waiting_device_mustache,
        "reference": PackageResources.reference_mustache,
        "site-links": PackageResources.site_links_mustache,
        "site-logo": PackageResources.site_logo_mustache,
        "way-to-browser": PackageResources.way_to_browser_mustache,
        "web-view-note": PackageResources.web_view_note_mustache,
        "alert": PackageResources.alert_mustache,
        "developer": PackageResources.developer_mustache,
        "pair": PackageResources.pair_mustache,
        "icon-alert": PackageResources.icon_alert_mustache,
        "icon-app": PackageResources.icon_app_mustache,
        "icon-check": PackageResources.icon_check_mustache,
        "icon-clock": PackageResources.icon_clock_mustache,
        "icon-computer": PackageResources.icon_computer_mustache,
        "icon-device": PackageResources.icon_device_mustache,
        "icon-globe": PackageResources.icon_globe_mustache,
    ]
}
