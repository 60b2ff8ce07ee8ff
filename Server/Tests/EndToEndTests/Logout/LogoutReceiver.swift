@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import NIOCore
import NIOSSL

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
    convenience init(_ answers: Answer...) { self.init(answers) }

    /// Creates a receiver that gives these answers, of which there is at least one, in order and repeats the last one.
    init(_ answers: [Answer]) { state = Mutex(State(answers: answers)) }

    /// The received requests.
    var requests: [Request] { state.withLock { $0.requests } }

    /// The number of connections that were closed before a complete response.
    var left: Int { state.withLock { $0.left } }

    /// Listens until `body` returns and passes it the port; with TLS if there is a context.
    func run<Result: Sendable>(
        tls: NIOSSLContext? = nil, _ body: @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        try await LocalListener.run(
            {
                let connection = Connection(self)
                guard let tls else { return [connection] }
                return [NIOSSLServerHandler(context: tls), connection]
            }, body)
    }

    private final class Connection: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let receiver: LogoutReceiver
        private var received = ""
        private var isAnswered = false

        init(_ receiver: LogoutReceiver) { self.receiver = receiver }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            guard !isAnswered, let request = LogoutReceiver.whole(received) else { return }
            received = ""
            let channel = context.channel
            switch receiver.take(request) {
            case .bytes(let answer):
                isAnswered = true
                channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in channel.close(promise: nil) }
            case .endless(let start, let piece):
                channel.writeAndFlush(ByteBuffer(string: start))
                    .whenSuccess { Self.repeatedly(send: ByteBuffer(string: piece), on: channel) }
            case .silence: break
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            if !isAnswered { receiver.state.withLock { $0.left += 1 } }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private static func repeatedly(send piece: ByteBuffer, on channel: any Channel) {
            // The next piece is a new task of the event loop, so that other connections of the loop progress.
            channel.writeAndFlush(piece)
                .whenSuccess { channel.eventLoop.execute { repeatedly(send: piece, on: channel) } }
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
