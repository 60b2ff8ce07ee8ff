import CounterfoilServer

/// Writes the nodes of an untrusted text as HTML, with only the elements and attributes in this file.
///
/// The text is CommonMark. Raw HTML is dropped, and an image is replaced by its alternative text. Headings get lower
/// levels than those of the page. Links lead only to https and mailto URLs and show their host.
struct ConsentTextWriter {
    /// Writes the HTML for a Markdown text.
    static func html(of markdown: String) throws(ConsentText.Refusal) -> [UInt8] {
        var writer = ConsentTextWriter()
        MarkdownDocument(parsing: markdown).walk { step in
            writer.write(step)
            return !writer.isFull
        }
        guard !writer.isFull else { throw .tooMuchMarkup }
        guard writer.showsText else { throw .nothingToSee }
        return writer.html
    }

    /// The maximum nesting of block quotes, lists and emphases; deeper ones are written without their element.
    static let depthLimit = 8
    /// The size of the HTML in bytes after which no further node is written; the last node may exceed it.
    static let byteLimit = 32 * 1024

    private(set) var html: [UInt8] = []
    /// Whether any visible content has been written.
    private(set) var showsText = false
    /// Whether the HTML has reached its maximum size.
    var isFull: Bool { html.count > Self.byteLimit }

    private var open: [OpenNode] = []
    private var depth = 0
    private var link: OpenLink?

    /// A node whose beginning has been written, but not its end.
    private struct OpenNode {
        /// The element of the node; nil if it is written without one.
        var tag: String?
        /// The positions at which the element and its content begin.
        var start = 0
        var contentStart = 0
        /// Whether the node counts towards the nesting depth.
        var isLevel = false
        /// The text to write after the element: a line feed, or nothing.
        var end = ""
    }

    /// The open link, with its text so far.
    private struct OpenLink {
        let destination: ConsentLink
        let level: Int
        var text = ""
    }

    /// Writes the HTML for one step of the walk through the Markdown tree.
    mutating func write(_ step: MarkdownDocument.Step) {
        switch step {
        case .enter(let node): enter(node)
        case .leave: leave()
        }
    }

    private mutating func enter(_ node: MarkdownNode) {
        switch node {
        case .document, .image: open.append(OpenNode())
        case .blockQuote: beginLevel("blockquote", end: "\n")
        case .list(first: nil): beginLevel("ul", end: "\n")
        case .list(let first?): beginLevel("ol", first == 1 ? "" : " start=\"\(first)\"", end: "\n")
        case .item: begin(depth <= Self.depthLimit ? "li" : nil, end: "\n")
        case .paragraph(let isTight): begin(isTight && depth <= Self.depthLimit ? nil : "p", end: "\n")
        // The page itself has headings of levels 1 and 2, so those of the text begin at level 3.
        case .heading(let level): begin("h\(min(level, 3) + 2)", end: "\n")
        case .emphasis: beginLevel("em")
        case .strong: beginLevel("strong")
        case .link(let url): beginLink(url)
        case .thematicBreak: html += "<hr>\n".utf8
        case .codeBlock(""): break
        case .codeBlock(let code):
            html += "<pre><code>".utf8
            print(code, keepsLines: true)
            html += "</code></pre>\n".utf8
        case .code(let code):
            html += "<code>".utf8
            print(code)
            html += "</code>".utf8
        case .text(let text): print(text)
        case .softBreak: breakLine("\n")
        case .hardBreak: breakLine("<br>\n")
        case .other: break
        }
    }

    private mutating func leave() {
        guard let frame = open.popLast() else { return }
        if let link, link.level == open.count { finish(link) }
        if frame.isLevel { depth -= 1 }
        guard let tag = frame.tag else {
            if html.count > frame.start { html += frame.end.utf8 }
            return
        }
        // An element without content would show only as a gap, so it is removed.
        guard html.count > frame.contentStart else {
            html.removeSubrange(frame.start...)
            return
        }
        html += "</\(tag)>\(frame.end)".utf8
        if let link, link.level == open.count { nameHost(of: link) }
    }

    private mutating func begin(_ tag: String?, _ attributes: String = "", end: String = "") {
        let start = html.count
        if let tag { html += "<\(tag)\(attributes)>".utf8 }
        open.append(OpenNode(tag: tag, start: start, contentStart: html.count, end: end))
    }

    private mutating func beginLevel(_ tag: String, _ attributes: String = "", end: String = "") {
        depth += 1
        begin(depth <= Self.depthLimit ? tag : nil, attributes, end: end)
        open[open.count - 1].isLevel = true
    }

    /// Writes text and, inside a link, also appends it to the text of that link.
    private mutating func print(_ text: String, keepsLines: Bool = false) {
        let printed = String(VisibleText(of: text.unicodeScalars, keepsLines: keepsLines).scalars)
        if !showsText { showsText = printed.contains { !$0.isWhitespace } }
        if link != nil { link?.text += printed }
        HTMLEscaping.append(printed, to: &html)
    }

    private mutating func breakLine(_ written: String) {
        link?.text += " "
        html += written.utf8
    }
}

/// The writing of links: the text of a link can be misleading, so the destination is shown after it.
extension ConsentTextWriter {
    private mutating func beginLink(_ url: String) {
        // HTML links cannot nest, but in Markdown a link can contain an image whose alternative text contains a link.
        guard link == nil, let destination = ConsentLink(url) else { return begin(nil) }
        let level = open.count
        var attributes: [UInt8] = Array(" href=\"".utf8)
        HTMLEscaping.append(destination.address, to: &attributes)
        attributes += "\" rel=\"noopener noreferrer nofollow ugc\"".utf8
        if destination.isPage { attributes += " target=\"_blank\"".utf8 }
        begin("a", String(decoding: attributes, as: UTF8.self))
        link = OpenLink(destination: destination, level: level)
    }

    /// Writes the destination as the text of a link that has no visible text.
    private mutating func finish(_ open: OpenLink) {
        guard open.text.allSatisfy(\.isWhitespace) else { return }
        print(open.destination.name)
    }

    private mutating func nameHost(of finished: OpenLink) {
        link = nil
        let text = finished.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !finished.destination.isNamed(by: text) else { return }
        html += " <bdi class=\"soft\">(".utf8
        HTMLEscaping.append(finished.destination.name, to: &html)
        html += ")</bdi>".utf8
    }
}
