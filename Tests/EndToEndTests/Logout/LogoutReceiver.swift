import CounterfoilProtocol
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// A local server of a client that receives posts and responds as a test says.
final class LogoutReceiver: Sendable {
    /// The reaction to a request.
    enum Answer: Sendable {
        /// Sends bytes and closes the connection.
        case bytes(String)
        /// Sends bytes, and then a piece repeatedly until the peer closes the connection.
        case endless(String, piece: String)
        /// Sends nothing and keeps the connection open.
        case silence

        /// Returns a response without a body.
        static func status(_ status: String, _ fields: String = "") -> Answer {
            .bytes("HTTP/1.1 \(status)\r\n\(fields)Content-Length: 0\r\n\r\n")
        }
    }

    /// A received request.
    struct Request: Sendable {
        let head: String
        let body: String
    }

    private struct State {
        var requests: [Request] = []
        var answers: [Answer]
        var left = 0
    }

    private let state: Mutex<State>

    /// Creates a receiver that gives these answers in order and repeats the last one.
    init(_ answers: Answer...) { state = Mutex(State(answers: answers)) }

    /// The received requests.
    var requests: [Request] { state.withLock { $0.requests } }

    /// The number of open connections that the peer has closed.
    var left: Int { state.withLock { $0.left } }

    /// Listens until `body` returns and passes it the port; with TLS if there is a context.
    func run<Result: Sendable>(
        tls: NIOSSLContext? = nil, _ body: @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let port = try #require(server.channel.localAddress?.port)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections {
                            group.addTask { try? await self.serve(connection) }
                        }
                    }
                }
            }
            let result = try await body(port)
            group.cancelAll()
            return result
        }
    }

    private func serve(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var received = ""
            for try await bytes in inbound {
                received += String(buffer: bytes)
                guard let request = Self.whole(received) else { continue }
                received = ""
                switch take(request) {
                case .bytes(let answer):
                    try await outbound.write(ByteBuffer(string: answer))
                    return
                case .endless(let start, let piece):
                    defer { state.withLock { $0.left += 1 } }
                    try await outbound.write(ByteBuffer(string: start))
                    while true { try await outbound.write(ByteBuffer(string: piece)) }
                case .silence: continue
                }
            }
            state.withLock { $0.left += 1 }
        }
    }

    private func take(_ request: Request) -> Answer {
        state.withLock { state in
            state.requests.append(request)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
    }

    /// Returns the request in a text, or nil while its body is incomplete.
    private static func whole(_ text: String) -> Request? {
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let head = String(text[..<end.lowerBound])
        let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        let body = String(text[end.upperBound...])
        guard body.utf8.count >= length.flatMap({ Int($0.dropFirst("content-length: ".count)) }) ?? 0 else {
            return nil
        }
        return Request(head: head, body: body)
    }
}
