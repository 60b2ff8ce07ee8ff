import Logging
import NIOCore
import NIOPosix
import Testing

@testable import HTTPListener

/// The end of HTTP/1.1 connections on which nothing happens.
struct IdleTimerTests {
    private static let limit = TimeAmount.milliseconds(200)

    /// A connection without a socket to close.
    private struct Nothing: ClosableConnection {
        func close(unless isBusy: @escaping @Sendable () -> Bool) {}
        func end(after delay: TimeAmount, unless isBusy: @escaping @Sendable () -> Bool) {}
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let connection: OpenConnection
        private let timer: IdleTimer

        init(_ connection: OpenConnection) {
            self.connection = connection
            timer = IdleTimer(connection, limit: limit)
        }

        func handlerAdded(context: ChannelHandlerContext) { timer.start(context) }

        /// A request, or the end of its answer.
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let isAnswered = connection.current.phase == .answering
            connection.enter(isAnswered ? .idle : .answering)
            if isAnswered { timer.start(context) }
        }
    }

    /// Returns the time for which the connection of a client stays open that sends something at some times.
    private static func time(sendingAt times: [Duration]) async throws -> Duration {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let connections = OpenConnections(
            limits: .standard, trustedProxies: .none, trustsLoopback: false, logger: logger)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let connection = connections.admit(Nothing(), from: nil) else { return }
                    try channel.pipeline.syncOperations.addHandler(Handler(connection))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let start = ContinuousClock.now
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: server.localAddress?.port ?? 0).get()
        for time in times {
            try await Task.sleep(until: start + time)
            try await client.writeAndFlush(ByteBuffer(string: "a")).get()
        }
        try await client.closeFuture.get()
        try await server.close()
        return .now - start
    }

    @Test func `a connection without a request is closed after the limit`() async throws {
        #expect(try await Self.time(sendingAt: []) >= .milliseconds(200))
    }

    @Test func `the time begins with the end of a response, and does not run during an answer`() async throws {
        let answered = Duration.milliseconds(500)
        #expect(try await Self.time(sendingAt: [.milliseconds(50), answered]) >= answered + .milliseconds(200))
    }
}
