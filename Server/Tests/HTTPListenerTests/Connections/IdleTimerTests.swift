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

    /// Has the first answer in progress, if there is one; the client ends it with a byte.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let connection: OpenConnection
        private let timer: IdleTimer

        init(_ connection: OpenConnection, isAnswering: Bool) {
            self.connection = connection
            timer = IdleTimer(connection, limit: limit)
            if isAnswering { connection.enter(.answering) }
        }

        func handlerAdded(context: ChannelHandlerContext) { timer.start(context) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            connection.enter(.idle)
            timer.start(context)
        }
    }

    /// Returns the time for which a connection stays open that has no answer in progress, or one that takes some time.
    private static func time(answering: Duration? = nil) async throws -> Duration {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let connections = OpenConnections(
            limits: .standard, trustedProxies: .none, trustsLoopback: false, logger: logger)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let connection = connections.admit(Nothing(), from: nil) else { return }
                    try channel.pipeline.syncOperations.addHandler(Handler(connection, isAnswering: answering != nil))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let start = ContinuousClock.now
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: server.localAddress?.port ?? 0).get()
        if let answering {
            try await Task.sleep(until: start + answering)
            try await client.writeAndFlush(ByteBuffer(string: "a")).get()
        }
        try await client.closeFuture.get()
        try await server.close()
        return .now - start
    }

    @Test func `a connection without a request is closed after the limit`() async throws {
        #expect(try await Self.time() >= .milliseconds(200))
    }

    @Test func `the time begins with the end of a response, and does not run during an answer`() async throws {
        #expect(try await Self.time(answering: .milliseconds(500)) >= .milliseconds(700))
    }
}
