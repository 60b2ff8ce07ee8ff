import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// A piece of HTML, parsed by a strict XML parser, so that nothing depends on error recovery in browsers.
struct PrintedHTML {
    /// The visible text.
    let text: String
    /// The elements with their attributes, in order.
    let elements: [Element]
    /// The maximum depth of nested elements.
    let depth: Int

    struct Element: Hashable {
        let name: String
        let attributes: [String: String]
    }

    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    init(_ html: String) throws {
        // The two void elements. They are written without attributes; any other form fails to parse.
        let closed = html.replacing("<br>", with: "<br/>").replacing("<hr>", with: "<hr/>")
        let parser = XMLParser(data: Data("<body>\(closed)</body>".utf8))
        parser.shouldResolveExternalEntities = false
        let reader = Reader()
        parser.delegate = reader
        guard parser.parse(), reader.problems.isEmpty else {
            let reason = parser.parserError.map { "\($0)" } ?? reader.problems.joined(separator: ", ")
            throw Malformed(description: "\(reason) in \(html)")
        }
        text = reader.text
        elements = Array(reader.elements.dropFirst())
        depth = reader.deepest - 1
    }

    /// The elements, attributes and URLs outside the allow list of a consent text; empty if there is none.
    var violations: [String] {
        elements.flatMap { element in
            element.attributes.compactMap { name, value in
                Self.allows(name, value, of: element.name) ? nil : "\(element.name) \(name)=\(value)"
            } + (Self.names.contains(element.name) ? [] : [element.name])
        } + Self.unseen(in: text)
    }

    private static let names: Set<String> = [
        "p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "br", "hr", "h3", "h4", "h5", "a", "bdi",
    ]

    private static func allows(_ name: String, _ value: String, of element: String) -> Bool {
        switch (element, name) {
        case ("a", "href"): value.lowercased().hasPrefix("https://") || value.hasPrefix("mailto:")
        case ("a", "rel"): value == "noopener noreferrer nofollow ugc"
        case ("a", "target"): value == "_blank"
        case ("bdi", "class"): value == "soft"
        case ("ol", "start"): value.allSatisfy { $0.isASCII && $0.isNumber }
        default: false
        }
    }

    private static func unseen(in text: String) -> [String] {
        text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar != "\n" && scalar != "\t"
            case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
            default: false
            }
        }.map { "U+" + String($0.value, radix: 16) }
    }

    private final class Reader: NSObject, XMLParserDelegate {
        var text = ""
        var elements: [Element] = []
        var depth = 0
        var deepest = 0
        var links = 0
        var problems: [String] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String] = [:]
        ) {
            elements.append(Element(name: name, attributes: attributes))
            depth += 1
            deepest = max(deepest, depth)
            guard name == "a" else { return }
            links += 1
            if links > 1 { problems.append("a link in a link") }
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            depth -= 1
            if name == "a" { links -= 1 }
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
        func parser(_ parser: XMLParser, foundComment comment: String) { problems.append("a comment") }
        func parser(_ parser: XMLParser, foundCDATA block: Data) { problems.append("a CDATA section") }
        func parser(
            _ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?
        ) {
            problems.append("a processing instruction")
        }
    }
}
