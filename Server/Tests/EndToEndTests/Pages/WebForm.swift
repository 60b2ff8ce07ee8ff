/// A form on a page, with its action and its hidden fields.
struct WebForm: Sendable {
    let action: String
    /// The origin of the page with the form.
    let origin: String
    /// The hidden fields.
    let hidden: [(name: String, value: String)]
    /// The names of all fields.
    let fieldNames: [String]
    /// The values of the buttons with the name `decision`.
    let decisions: [String]

    init?(html: String, on url: String) {
        guard let start = html.firstMatch(of: /<form\b[^>]*>/), let action = Self.attribute("action", of: start.output),
            Self.attribute("method", of: start.output) == "post"
        else { return nil }
        origin = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(
            separator: "/")
        self.action = action.hasPrefix("/") ? origin + action : action
        let inputs = html.matches(of: /<input\b[^>]*>/).map(\.output)
        fieldNames = inputs.compactMap { Self.attribute("name", of: $0) }
        hidden = inputs.filter { Self.attribute("type", of: $0) == "hidden" }.map {
            (Self.attribute("name", of: $0) ?? "", Self.attribute("value", of: $0) ?? "")
        }
        decisions = html.matches(of: /<button\b[^>]*>/).map(\.output)
            .filter { Self.attribute("name", of: $0) == "decision" }
            .compactMap { Self.attribute("value", of: $0) }
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        for match in tag.matches(of: /\s([a-z-]+)="([^"]*)"/) where match.output.1 == name {
            return WebPage.unescaped(match.output.2)
        }
        return nil
    }
}
