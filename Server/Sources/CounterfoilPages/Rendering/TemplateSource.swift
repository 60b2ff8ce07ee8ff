import CounterfoilServer

/// The source of a template, with placeholders for messages of the catalogue.
///
/// `[[key]]` is replaced with the message of the key as HTML, with arguments in `<bdi>` and bold words in
/// `<b>`. The place `client-host` is the host of an unregistered client. `[[=key]]` is replaced with the message
/// without markup, for attributes and titles.
struct TemplateSource: Sendable {
    let name: String
    let text: String

    /// Replaces the placeholders with the messages of a language.
    func spoken(in words: Localizer) throws(PageRenderer.Failure) -> String {
        var spoken = ""
        var rest = text[...]
        while let mark = rest.firstRange(of: "[[") {
            spoken += rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
            guard let end = rest.firstRange(of: "]]") else { throw .unknownKey(String(rest), template: name) }
            let isPlain = rest.first == "="
            let key = String(rest[..<end.lowerBound].drop { $0 == "=" })
            guard let message = words.message(key) else { throw .unknownKey(key, template: name) }
            spoken += isPlain ? Self.plain(message) : Self.html(message)
            rest = rest[end.upperBound...]
        }
        return spoken + rest
    }

    /// The names of the templates that this template includes or inherits from.
    var partials: [String] {
        text.matches(of: /\{\{[<>] *([a-z-]+) *\}\}/).map { String($0.output.1) }
    }

    private static func html(_ message: MessageTemplate) -> String {
        message.pieces.map { piece in
            switch piece {
            case .text(let text): HTMLText().escapeText(text)
            case .placeholder("client-host"): clientHost
            case .placeholder(let name): "<bdi>{{\(path(of: name))}}</bdi>"
            case .boldBegins: "<b>"
            case .boldEnds: "</b>"
            }
        }.joined()
    }

    /// The host of an unregistered client, with its registrable domain in bold.
    private static let clientHost =
        "{{#page.unregisteredClient.host}}"
        + #"<bdi class="host">{{.subdomains}}<b>{{.domain}}</b>{{.port}}</bdi>"#
        + "{{/page.unregisteredClient.host}}"

    private static func plain(_ message: MessageTemplate) -> String {
        message.pieces.map { piece in
            switch piece {
            case .text(let text): HTMLText().escapeText(text)
            case .placeholder(let name): "{{\(path(of: name))}}"
            case .boldBegins, .boldEnds: ""
            }
        }.joined()
    }

    /// Returns the template variable for a placeholder of a message, such as `site.name` for `site`.
    ///
    /// A placeholder without a short name is itself the name of the variable.
    private static func path(of placeholder: String) -> String {
        switch placeholder {
        case "site": "site.name"
        case "application": "page.clientName"
        case "person": "page.userDisplayName"
        default: placeholder
        }
    }
}
