/// The complete result of a request; in the revision 2026-07-28, it also names its type and the server.
struct CompleteResult: Encodable, Sendable {
    private let content: any Encodable & Sendable
    private let revision: Revision

    init(_ content: any Encodable & Sendable, in revision: Revision) {
        self.content = content
        self.revision = revision
    }

    private enum CodingKeys: String, CodingKey {
        case resultType
        case metadata = "_meta"
    }

    func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        guard revision == .stateless else { return }
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode("complete", forKey: .resultType)
        try members.encode(["io.modelcontextprotocol/serverInfo": Software()], forKey: .metadata)
    }
}

/// The name and version of this program.
struct Software: Encodable {
    let name = "notes"
    let version = "1.0.0"
}

/// The abilities of this server.
struct Capabilities: Encodable {
    let tools: [String: Bool] = [:]
}

/// The result of `server/discover`.
struct Discovery: Encodable {
    let supportedVersions = Revision.all
    let capabilities = Capabilities()
    let ttlMs = 300_000
    let cacheScope = "private"
}

/// The result of `initialize`: the proposed revision, or the newest one with a handshake.
struct Initialization: Encodable {
    let protocolVersion: String
    let capabilities = Capabilities()
    let serverInfo = Software()

    init(for proposed: String?) {
        protocolVersion = Revision.older.first { $0 == proposed } ?? Revision.older[0]
    }
}

/// The result of `tools/list`.
struct ToolList: Encodable {
    let tools = Tool.all
    let ttlMs = 300_000
    let cacheScope = "private"
}

/// The result of `tools/call`, as text.
struct ToolResult: Encodable {
    struct Content: Encodable {
        let type = "text"
        let text: String
    }

    let content: [Content]
    let isError: Bool

    init(text: String) {
        content = [Content(text: text)]
        isError = false
    }

    /// Creates the result of a call with arguments that the tool cannot use; the model can correct them.
    init(error: String) {
        content = [Content(text: error)]
        isError = true
    }
}
