import Mustache

/// The templates of the pages, parsed once.
struct PageTemplates: Sendable {
    private let library: MustacheLibrary

    /// Parses every template.
    ///
    /// - Throws: the parser's error for a template that is not well formed.
    init() throws {
        let html = "CounterfoilHTML"
        MustacheContentTypes.register(HTMLText(), named: html)
        var library = MustacheLibrary()
        for (name, bytes) in Self.sources {
            try library.register("{{% CONTENT_TYPE: \(html)}}\n" + String(decoding: bytes, as: UTF8.self), named: name)
        }
        self.library = library
    }

    /// Fills in a template; nil if there is none of that name.
    func render(_ context: PageContext, with name: String) -> String? {
        library.render(context, withTemplate: name)
    }

    private static let sources: [String: [UInt8]] = [
        "layout": PackageResources.layout_mustache,
        "sign-in": PackageResources.sign_in_mustache,
        "consent": PackageResources.consent_mustache,
        "go-on": PackageResources.go_on_mustache,
        "problem": PackageResources.problem_mustache,
        "setup": PackageResources.setup_mustache,
        "setup-done": PackageResources.setup_done_mustache,
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

/// Escapes text for the content and the quoted attributes of HTML.
///
/// The one that comes with the template engine compares whole characters: a quotation mark followed by a combining accent
/// is another character there and stays as it is, while a browser reads code points and ends the attribute. This one
/// reads bytes.
struct HTMLText: MustacheContentType {
    /// The text with the five characters of HTML's syntax written as references.
    func escapeText(_ text: String) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): escaped += "&amp;".utf8
            case UInt8(ascii: "<"): escaped += "&lt;".utf8
            case UInt8(ascii: ">"): escaped += "&gt;".utf8
            case UInt8(ascii: "\""): escaped += "&quot;".utf8
            case UInt8(ascii: "'"): escaped += "&#39;".utf8
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
