import Foundation
import HTTPTypes
import Hummingbird

/// A JSON-RPC message of a client: a request, a notification without `id`, or an answer without `method`.
struct Message: Decodable {
    enum ID: Hashable, Sendable {
        case number(Int)
        case text(String)
    }

    struct Parameters: Decodable {
        struct Arguments: Decodable {
            /// The argument of `add_note`; nil if it is missing or no string.
            let text: String?

            private enum CodingKeys: CodingKey { case text }

            init(from decoder: any Decoder) throws {
                text = try? decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
            }
        }

        /// The metadata of a request in the revision 2026-07-28.
        struct Metadata: Decodable {
            private struct AnyObject: Decodable {}

            let protocolVersion: String?
            let hasCapabilities: Bool

            private enum CodingKeys: String, CodingKey {
                case protocolVersion = "io.modelcontextprotocol/protocolVersion"
                case capabilities = "io.modelcontextprotocol/clientCapabilities"
            }

            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: CodingKeys.self)
                protocolVersion = try members.decodeIfPresent(String.self, forKey: .protocolVersion)
                hasCapabilities = try members.decodeIfPresent(AnyObject.self, forKey: .capabilities) != nil
            }
        }

        let name: String?
        let arguments: Arguments?
        /// The revision that a client proposes with `initialize`.
        let protocolVersion: String?
        let metadata: Metadata?

        private enum CodingKeys: String, CodingKey {
            case name, arguments, protocolVersion
            case metadata = "_meta"
        }
    }

    let jsonrpc: String
    let id: ID?
    let method: String?
    let params: Parameters?
}

extension Message.ID: Codable {
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        self = try (try? value.decode(Int.self)).map(Self.number) ?? .text(value.decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        }
    }
}

/// A JSON-RPC error, with the HTTP status of its response.
struct Failure: Error, Encodable {
    struct Versions: Encodable {
        let supported: [String]
        let requested: String?
    }

    let code: Int
    let message: String
    var data: Versions?
    var status = HTTPResponse.Status.badRequest

    private enum CodingKeys: CodingKey { case code, message, data }

    static let invalidRequest = Failure(code: -32600, message: "the body is not one JSON-RPC message")
    static let tooLarge = Failure(
        code: -32600, message: "the message is longer than \(MCPServer.byteLimit) bytes", status: .contentTooLarge)

    /// The revision 2026-07-28 answers an unknown method with 404, older ones with 200.
    static func unknownMethod(in revision: Revision) -> Failure {
        Failure(code: -32601, message: "Method not found", status: revision == .stateless ? .notFound : .ok)
    }

    static func invalidParameters(_ message: String, status: HTTPResponse.Status = .ok) -> Failure {
        Failure(code: -32602, message: message, status: status)
    }

    static func headerMismatch(_ name: String) -> Failure {
        Failure(code: -32020, message: "Header mismatch: \(name) is missing or does not match the body")
    }

    static func unsupportedVersion(_ requested: String?) -> Failure {
        Failure(
            code: -32022, message: "Unsupported protocol version",
            data: Versions(supported: Revision.all, requested: requested))
    }
}

/// A JSON-RPC answer: a result or an error.
struct Answer: Encodable {
    private let id: Message.ID?
    private let outcome: Result<CompleteResult, Failure>

    init(id: Message.ID?, _ outcome: Result<CompleteResult, Failure>) {
        self.id = id
        self.outcome = outcome
    }

    private enum CodingKeys: CodingKey { case jsonrpc, id, result, error }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode("2.0", forKey: .jsonrpc)
        try members.encodeIfPresent(id, forKey: .id)
        switch outcome {
        case .success(let result): try members.encode(result, forKey: .result)
        case .failure(let failure): try members.encode(failure, forKey: .error)
        }
    }

    func response(status: HTTPResponse.Status) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(self))))
    }
}
