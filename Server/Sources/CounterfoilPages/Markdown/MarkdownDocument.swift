import CCmark

/// A parsed CommonMark document, which owns the tree of the C library and frees it.
struct MarkdownDocument: ~Copyable {
    /// One step through the tree: into a node, or out of a node that can have children.
    enum Step {
        case enter(MarkdownNode)
        case leave
    }

    private let root: OpaquePointer?

    /// Parses a text; every text is a valid CommonMark document.
    init(parsing text: String) {
        var text = text
        root = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                cmark_parse_document(characters.baseAddress, characters.count, CMARK_OPT_VALIDATE_UTF8)
            }
        }
        guard let root else { return }
        // The parser creates a separate text node for each entity, such as `&#768;`. Adjacent text nodes are joined, so
        // that ``VisibleText`` also limits combining marks that are written as entities.
        cmark_consolidate_text_nodes(root)
    }

    deinit {
        if let root { cmark_node_free(root) }
    }

    /// Walks the tree in document order until `visit` returns false.
    func walk(_ visit: (Step) -> Bool) {
        guard let root, let steps = cmark_iter_new(root) else { return }
        defer { cmark_iter_free(steps) }
        while true {
            let event = cmark_iter_next(steps)
            guard event != CMARK_EVENT_DONE, let node = cmark_iter_get_node(steps) else { return }
            guard visit(event == CMARK_EVENT_ENTER ? .enter(MarkdownNode(node)) : .leave) else { return }
        }
    }
}

/// A node of a document.
enum MarkdownNode {
    case document
    case blockQuote
    /// A list, which is ordered if it has a first number.
    case list(first: Int?)
    case item
    /// A paragraph; a tight one is in a list without blank lines.
    case paragraph(isTight: Bool)
    case heading(level: Int)
    case thematicBreak
    case codeBlock(String)
    case emphasis
    case strong
    case link(url: String)
    case image
    case text(String)
    case code(String)
    case softBreak
    case hardBreak
    /// Raw HTML, or a node that is not part of CommonMark.
    case other

    init(_ node: OpaquePointer) {
        switch cmark_node_get_type(node) {
        case CMARK_NODE_DOCUMENT: self = .document
        case CMARK_NODE_BLOCK_QUOTE: self = .blockQuote
        case CMARK_NODE_LIST:
            let isOrdered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST
            self = .list(first: isOrdered ? Int(cmark_node_get_list_start(node)) : nil)
        case CMARK_NODE_ITEM: self = .item
        case CMARK_NODE_PARAGRAPH:
            let list = cmark_node_parent(cmark_node_parent(node))
            self = .paragraph(isTight: cmark_node_get_list_tight(list) == 1)
        case CMARK_NODE_HEADING: self = .heading(level: Int(cmark_node_get_heading_level(node)))
        case CMARK_NODE_THEMATIC_BREAK: self = .thematicBreak
        case CMARK_NODE_CODE_BLOCK: self = .codeBlock(Self.literal(of: node))
        case CMARK_NODE_EMPH: self = .emphasis
        case CMARK_NODE_STRONG: self = .strong
        case CMARK_NODE_LINK: self = .link(url: cmark_node_get_url(node).map { String(cString: $0) } ?? "")
        case CMARK_NODE_IMAGE: self = .image
        case CMARK_NODE_TEXT: self = .text(Self.literal(of: node))
        case CMARK_NODE_CODE: self = .code(Self.literal(of: node))
        case CMARK_NODE_SOFTBREAK: self = .softBreak
        case CMARK_NODE_LINEBREAK: self = .hardBreak
        default: self = .other
        }
    }

    private static func literal(of node: OpaquePointer) -> String {
        cmark_node_get_literal(node).map { String(cString: $0) } ?? ""
    }
}
