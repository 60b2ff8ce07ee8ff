import CounterfoilProtocol
import Foundation

/// A response as a browser receives it.
struct WebPage: Sendable {
    let url: String
    let status: Int
    /// The header fields, with lower-case names.
    let headers: [(name: String, value: String)]
    let body: String

    /// An error: the page is not the expected one.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the value of a header field, or nil unless it occurs exactly once.
    func header(_ name: String) -> String? {
        let values = self.values(of: name)
        return values.count == 1 ? values[0] : nil
    }

    /// The target of a redirect, which can be relative (RFC 9110 §10.2.2); nil for other responses.
    var redirection: String? {
        guard (300..<400).contains(status), let location = header("location") else { return nil }
        return URL(string: location, relativeTo: URL(string: url))?.absoluteString
    }

    /// The `Set-Cookie` fields.
    var newCookies: [String] { values(of: "set-cookie") }

    /// The first heading, as text.
    var heading: String? {
        body.firstMatch(of: /(?s)<h1>(.*?)<\/h1>/).map { Self.text(String($0.output.1)) }
    }

    /// The readable text of the page.
    var text: String {
        let visible = body.replacing(/(?s)<(head|style|script)\b.*?<\/\1>/, with: "")
        return Self.text(visible).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The URL to which the page continues automatically.
    var continuationURL: String? {
        body.firstMatch(of: /<meta http-equiv="refresh" content="0;url=([^"]*)">/).map {
            Self.unescaped(String($0.output.1))
        }
    }

    /// The query parameters of the page's own URL.
    var parameters: FormParameters? {
        url.firstIndex(of: "?").flatMap { try? FormParameters(parsing: String(url[url.index(after: $0)...])) }
    }

    /// Returns the form with a field of this name.
    func form(with field: String) throws -> WebForm {
        try form("a form with a field “\(field)”") { $0.fieldNames.contains(field) }
    }

    /// Returns the form with a `decision` button of this value.
    func form(withButton value: String) throws -> WebForm {
        try form("a form with a button “\(value)”") { $0.decisions.contains(value) }
    }

    private func values(of name: String) -> [String] {
        headers.filter { $0.name == name }.map(\.value)
    }

    private func form(_ what: String, _ matches: (WebForm) -> Bool) throws -> WebForm {
        let forms = body.matches(of: /(?s)<form\b.*?<\/form>/).compactMap { WebForm(html: String($0.output), on: url) }
        guard let form = forms.first(where: matches) else {
            throw Unexpected(
                description: "no \(what) on the page \(status) “\(heading ?? "")” of \(url.prefix(80)): \(text)")
        }
        return form
    }

    private static func text(_ html: String) -> String {
        unescaped(html.replacing(/<[^>]*>/, with: ""))
    }

    /// Replaces HTML entities by their characters.
    static func unescaped(_ text: some StringProtocol) -> String {
        var result = String(text)
        // The ampersand is last, otherwise `&amp;lt;` would become `<`.
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            result = result.replacingOccurrences(of: entity, with: character)
        }
        return result
    }
}
