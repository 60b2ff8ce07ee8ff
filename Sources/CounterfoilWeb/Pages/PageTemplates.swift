import CounterfoilServer
import Mustache
import Synchronization

/// The templates of the pages in one language.
///
/// Each is parsed when it is first asked for, together with the partials that it names: parsing all of them takes far
/// longer than anything else that a start does.
final class PageTemplates: Sendable {
    private let words: Words
    private let parsed = Mutex<[String: MustacheLibrary]>([:])

    /// The templates with the words of a language in the place of their marks.
    init(_ words: Words) {
        MustacheContentTypes.register(HTMLText(), named: Self.contentType)
        self.words = words
    }

    /// Fills in a template.
    func render(_ context: PageContext, with name: String) throws -> String {
        guard let html = try library(of: name).render(context, withTemplate: name) else {
            throw PageRenderer.Failure.noTemplate(name)
        }
        return html
    }

    /// Parses every template now.
    func parseAll() throws {
        for name in Self.sources.keys { _ = try library(of: name) }
    }

    private func library(of name: String) throws -> MustacheLibrary {
        if let library = parsed.withLock({ $0[name] }) { return library }
        var library = MustacheLibrary()
        var missing = [name]
        var known: Set<String> = []
        while let next = missing.popLast() {
            guard known.insert(next).inserted else { continue }
            guard let bytes = Self.sources[next] else { throw PageRenderer.Failure.noTemplate(next) }
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

    private static let sources: [String: [UInt8]] = [
        "layout": PackageResources.layout_mustache,
        "sign-in": PackageResources.sign_in_mustache,
        "consent": PackageResources.consent_mustache,
        "continue": PackageResources.continue_mustache,
        "go-on": PackageResources.go_on_mustache,
        "sign-out": PackageResources.sign_out_mustache,
        "signed-out": PackageResources.signed_out_mustache,
        "web-view": PackageResources.web_view_mustache,
        "app-link": PackageResources.app_link_mustache,
        "problem": PackageResources.problem_mustache,
        "setup": PackageResources.setup_mustache,
        "setup-done": PackageResources.setup_done_mustache,
        "account": PackageResources.account_mustache,
        "connected-application": PackageResources.connected_application_mustache,
        "sessions": PackageResources.sessions_mustache,
        "password": PackageResources.password_mustache,
        "applications": PackageResources.applications_mustache,
        "application-types": PackageResources.application_types_mustache,
        "application-form": PackageResources.application_form_mustache,
        "application": PackageResources.application_mustache,
        "connect": PackageResources.connect_mustache,
        "secrets": PackageResources.secrets_mustache,
        "delete-application": PackageResources.delete_application_mustache,
        "policy": PackageResources.policy_mustache,
        "logo": PackageResources.logo_mustache,
        "association": PackageResources.association_mustache,
        "administration": PackageResources.administration_mustache,
        "branding": PackageResources.branding_mustache,
        "audit": PackageResources.audit_mustache,
        "administration-tabs": PackageResources.administration_tabs_mustache,
        "application-row": PackageResources.application_row_mustache,
        "application-tabs": PackageResources.application_tabs_mustache,
        "address-examples": PackageResources.address_examples_mustache,
        "icon-next": PackageResources.icon_next_mustache,
        "account-tabs": PackageResources.account_tabs_mustache,
        "connected-badge": PackageResources.connected_badge_mustache,
        "app-mark": PackageResources.app_mark_mustache,
        "back": PackageResources.back_mustache,
        "code-block": PackageResources.code_block_mustache,
        "console-layout": PackageResources.console_layout_mustache,
        "copy": PackageResources.copy_mustache,
        "error-summary": PackageResources.error_summary_mustache,
        "field": PackageResources.field_mustache,
        "field-check": PackageResources.field_check_mustache,
        "field-boxes": PackageResources.field_boxes_mustache,
        "field-choices": PackageResources.field_choices_mustache,
        "field-file": PackageResources.field_file_mustache,
        "field-lines": PackageResources.field_lines_mustache,
        "field-select": PackageResources.field_select_mustache,
        "field-text": PackageResources.field_text_mustache,
        "icon-back": PackageResources.icon_back_mustache,
        "icon-copy": PackageResources.icon_copy_mustache,
        "icon-info": PackageResources.icon_info_mustache,
        "icon-refused": PackageResources.icon_refused_mustache,
        "note-danger": PackageResources.note_danger_mustache,
        "note-done": PackageResources.note_done_mustache,
        "note-info": PackageResources.note_info_mustache,
        "note-warning": PackageResources.note_warning_mustache,
        "site-links": PackageResources.site_links_mustache,
        "site-logo": PackageResources.site_logo_mustache,
        "site-mark": PackageResources.site_mark_mustache,
        "verdict": PackageResources.verdict_mustache,
        "way-to-browser": PackageResources.way_to_browser_mustache,
        "web-view-note": PackageResources.web_view_note_mustache,
        "verdict-list": PackageResources.verdict_list_mustache,
        "verdict-models": PackageResources.verdict_models_mustache,
        "wrong": PackageResources.wrong_mustache,
        "alert": PackageResources.alert_mustache,
        "pair": PackageResources.pair_mustache,
        "icon-alert": PackageResources.icon_alert_mustache,
        "icon-app": PackageResources.icon_app_mustache,
        "icon-check": PackageResources.icon_check_mustache,
        "icon-clock": PackageResources.icon_clock_mustache,
        "icon-computer": PackageResources.icon_computer_mustache,
        "icon-globe": PackageResources.icon_globe_mustache,
    ]
}
