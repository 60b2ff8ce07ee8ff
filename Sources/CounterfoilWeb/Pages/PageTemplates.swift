import CounterfoilServer
import Mustache

/// The templates of the pages in one language, parsed once.
struct PageTemplates: Sendable {
    private let library: MustacheLibrary

    /// Puts the words of a language into every template and parses it.
    ///
    /// - Throws: ``PageRenderer/Failure/unknownPhrase(_:template:)`` for a phrase that the catalogue does not have, the
    ///   parser's error for a template that is not well formed.
    init(_ words: Words) throws {
        let html = "CounterfoilHTML"
        MustacheContentTypes.register(HTMLText(), named: html)
        var library = MustacheLibrary()
        for (name, bytes) in Self.sources {
            let source = TemplateSource(name: name, text: String(decoding: bytes, as: UTF8.self))
            try library.register("{{% CONTENT_TYPE: \(html)}}\n" + source.spoken(in: words), named: name)
        }
        self.library = library
    }

    /// Fills in a template; nil if there is none of that name.
    func render(_ context: PageContext, with name: String) -> String? {
        library.render(context, withTemplate: name)
    }

    /// Every template and partial as it was written.
    static var all: [TemplateSource] {
        sources.map { TemplateSource(name: $0.key, text: String(decoding: $0.value, as: UTF8.self)) }
    }

    private static let sources: [String: [UInt8]] = [
        "layout": PackageResources.layout_mustache,
        "sign-in": PackageResources.sign_in_mustache,
        "consent": PackageResources.consent_mustache,
        "go-on": PackageResources.go_on_mustache,
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
        "application-row": PackageResources.application_row_mustache,
        "application-tabs": PackageResources.application_tabs_mustache,
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
        "site-logo": PackageResources.site_logo_mustache,
        "site-mark": PackageResources.site_mark_mustache,
        "verdict": PackageResources.verdict_mustache,
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
