import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The kind of protocol revision in which a request is written.
enum Revision: Hashable, Sendable {
    /// The revision 2026-07-28, in which each request describes itself.
    case stateless
    /// A revision up to 2025-11-25, which begins with `initialize`.
    case handshake

    static let current = "2026-07-28"
    /// The revisions with a handshake, the newest first.
    static let older = ["2025-11-25", "2025-06-18", "2025-03-26"]
    static let all = [current] + older

    /// Recognizes the revision of a request, and checks that its header fields match its body.
    init(of message: Message, in fields: HTTPFields) throws(Failure) {
        let version = fields.value(of: "MCP-Protocol-Version")
        guard let metadata = message.params?.metadata, let declared = metadata.protocolVersion else {
            guard version != Self.current else { throw .headerMismatch("MCP-Protocol-Version") }
            // Before 2025-06-18 there was no such field, and `initialize` is sent without it.
            guard version.map(Self.older.contains) ?? true else { throw .unsupportedVersion(version) }
            self = .handshake
            return
        }
        guard version == declared else { throw .headerMismatch("MCP-Protocol-Version") }
        guard declared == Self.current else { throw .unsupportedVersion(declared) }
        guard fields.value(of: "Mcp-Method") == message.method else { throw .headerMismatch("Mcp-Method") }
        if message.method == "tools/call" {
            guard fields.value(of: "Mcp-Name").map(Self.decoded) == message.params?.name else {
                throw .headerMismatch("Mcp-Name")
            }
        }
        guard metadata.hasCapabilities else {
            throw .invalidParameters("io.modelcontextprotocol/clientCapabilities is missing", status: .badRequest)
        }
        self = .stateless
    }

    /// Decodes a value with characters that a header field cannot contain: `=?base64?…?=`.
    private static func decoded(_ value: String) -> String {
        guard value.hasPrefix("=?base64?"), value.hasSuffix("?="), value.utf8.count >= 11,
            let bytes = Data(base64Encoded: String(value.dropFirst(9).dropLast(2)))
        else { return value }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPFields {
    fileprivate func value(of name: String) -> String? { HTTPField.Name(name).flatMap { self[$0] } }
}

extension HTTPField.Name {
    /// The header fields of MCP clients, and `DPoP`, which contains the proof for a token that is bound to a key.
    static let mcp = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "DPoP"]
        .compactMap { HTTPField.Name($0) }
}
