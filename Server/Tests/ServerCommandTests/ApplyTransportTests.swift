@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// The requests of `apply --remote`, to a server whose answers the tests write.
@Suite(.timeLimit(.minutes(10)))
struct ApplyTransportTests {
    /// An answer: the status and fields, and the body; nil closes the connection.
    private typealias Answer = (head: String, body: String)?

    /// The heads of the requests that a server got.
    private final class Received: Sendable {
        private let heads = Mutex<[String]>([])

        var all: [String] { heads.withLock { $0 } }

        func append(_ head: String) { heads.withLock { $0.append(head) } }
    }

    /// A server that answers each request by the heads that it got, of which the last is that of the request.
    private struct ScriptedServer: Sendable {
        private let received = Received()
        private let api: SocketAPI

        var origin: String { api.origin }
        var requests: [String] { received.all }

        init(_ answer: @escaping @Sendable (_ heads: [String], _ origin: String) -> Answer) throws {
            api = try SocketAPI { [received] exchange in
                let head = exchange.head
                received.append(head)
                var left = head.firstMatch(of: /(?i)content-length: (\d+)/).flatMap { Int($0.output.1) } ?? 0
                if left > 0 {
                    exchange.readBody { part in
                        left -= part.count
                        return left <= 0
                    }
                }
                let host = head.firstMatch(of: /(?i)host: (\S+)/).map { String($0.output.1) } ?? ""
                guard let answer = answer(received.all, "http://\(host)") else { return }
                exchange.write(
                    "HTTP/1.1 \(answer.head)\r\nContent-Length: \(answer.body.utf8.count)\r\nConnection: close\r\n\r\n"
                        + answer.body)
            }
        }
    }

    private static let token = "token-of-the-test"
    private static let state = "scopes: [{scope: photos.read, description: See your photos}]"

    /// Returns the answer to the first request of a command; nil for another request.
    private static func metadata(_ heads: [String], _ origin: String) -> Answer {
        heads.count == 1 ? ("200 OK", #"{"resource": "\#(origin)/api/v1"}"#) : nil
    }

    /// Applies the state with the token in a file.
    private static func apply(to origin: String, mode: mode_t = 0o600) async throws -> EndedProgram {
        try await Site.make { site in
            let (file, token) = (site.folder.path("state.yaml"), site.folder.path("token"))
            try Data(state.utf8).write(to: URL(fileURLWithPath: file))
            try Data(Self.token.utf8).write(to: URL(fileURLWithPath: token))
            chmod(token, mode)
            return try await site.server(["apply", file, "--remote", origin, "--token-file", token])
        }
    }

    @Test func `a server without the API gets no token`() async throws {
        let server = try ScriptedServer { _, _ in ("404 Not Found", "{}") }
        let ended = try await Self.apply(to: server.origin)
        #expect(ended.status == 3)
        #expect(ended.errors.contains("there is no administration API"), "\(ended.errors)")
        #expect(server.requests.count == 1)
        #expect(!server.requests.joined().contains(Self.token))
    }

    @Test func `a redirect is not followed`() async throws {
        let other = try ScriptedServer { _, _ in ("200 OK", #"{"items": []}"#) }
        let location = other.origin
        let server = try ScriptedServer { heads, origin in
            Self.metadata(heads, origin) ?? ("307 Temporary Redirect\r\nLocation: \(location)/api/v1/scopes", "")
        }
        let ended = try await Self.apply(to: server.origin)
        #expect(ended.status == 3 && ended.errors.contains("307"), "\(ended.errors)")
        #expect(server.requests.last?.contains("Bearer \(Self.token)") == true)
        #expect(other.requests.isEmpty)
    }

    @Test func `a file with a token that every user can read is refused, and nothing is sent`() async throws {
        let server = try ScriptedServer { _, _ in ("404 Not Found", "{}") }
        let ended = try await Self.apply(to: server.origin, mode: 0o644)
        #expect(ended.status == 3 && ended.errors.contains("every user can read"), "\(ended.errors)")
        #expect(!ended.errors.contains(Self.token))
        #expect(server.requests.isEmpty)
    }

    @Test(
        arguments: [
            ("201 Created", #"{"scope": "photos.read", "description": "See your photos"}"#, 0),
            ("409 Conflict", #"{"type": "urn:counterfoil:problem:request-pending"}"#, 6),
        ] as [(String, String, Int32)])
    func `a creation whose answer is lost is repeated with its key`(
        head: String, body: String, status: Int32
    ) async throws {
        let server = try ScriptedServer { heads, origin in
            if let metadata = Self.metadata(heads, origin) { return metadata }
            guard let last = heads.last, last.hasPrefix("POST ") else {
                return heads.last?.contains("/scopes?") == true
                    ? ("200 OK", #"{"items": []}"#) : ("404 Not Found", "{}")
            }
            return heads.count { $0.hasPrefix("POST ") } == 1 ? nil : (head, body)
        }
        let ended = try await Self.apply(to: server.origin)
        #expect(ended.status == status, "\(ended.errors)")
        let keys = server.requests.filter { $0.hasPrefix("POST ") }.map { request in
            request.firstMatch(of: /(?i)idempotency-key: (\S+)/).map { String($0.output.1) }
        }
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
    }
}
