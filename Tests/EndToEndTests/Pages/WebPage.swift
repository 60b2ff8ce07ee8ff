import CounterfoilProtocol
import Foundation

/// An answer of a server as a browser has it.
struct WebPage: Sendable {
    let url: String
    let status: Int
    /// The header fields, with their names in lower case.
    let headers: [(name: String, value: String)]
    let body: String

    /// The page is not the one that the person expects.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    /// The value of a header field; nil unless it is there exactly once.
    func header(_ name: String) -> String? {
        let values = self.values(of: name)
        return values.count == 1 ? values[0] : nil
    }

    /// The address that a redirect leads to, which may be relative to this one (RFC 9110 §10.2.2); nil for any other answer.
    var redirection: String? {
        guard (300..<400).contains(status), let location = header("location") else { return nil }
        return URL(string: location, relativeTo: URL(string: url))?.absoluteString
    }

    /// The cookies that the answer sets, whole.
    var newCookies: [String] { values(of: "set-cookie") }

    /// The first heading, without markup.
    var heading: String? {
        body.firstMatch(of: /(?s)<h1>(.*?)<\/h1>/).map { Self.text(String($0.output.1)) }
    }

    /// Everything that can be read on the page.
    var text: String {
        let visible = body.replacing(/(?s)<(head|style|script)\b.*?<\/\1>/, with: "")
        return Self.text(visible).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The address to which the page goes on by itself.
    var goesOnTo: String? {
        body.firstMatch(of: /<meta http-equiv="refresh" content="0;url=([^"]*)">/).map {
            Self.unescaped(String($0.output.1))
        }
    }

    /// The parameters of the page's own address.
    var parameters: FormParameters? {
        url.firstIndex(of: "?").flatMap { try? FormParameters(parsing: String(url[url.index(after: $0)...])) }
    }

    /// The form that has a field of this name.
    func form(with field: String) throws -> WebForm {
        try form("a form with a field “\(field)”") { $0.fieldNames.contains(field) }
    }

    /// The form that has a button `decision` with this value.
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

    /// Text as it was before it was escaped for HTML.
    static func unescaped(_ text: some StringProtocol) -> String {
        var result = String(text)
        // The ampersand comes last, or `&amp;lt;` would become `<`.
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            result = result.replacingOccurrences(of: entity, with: character)
        }
        return result
    }
}
