import NIOCore
import NIOPosix
import Testing

/// A local port whose connections are handled on their event loops.
enum LocalListener {
    /// Listens until `body` returns and passes it the port.
    ///
    /// `handlers` creates the channel handlers of a connection. All connections are closed at the end.
    static func run<Result: Sendable>(
        _ handlers: @escaping @Sendable () throws -> [any ChannelHandler],
        _ body: @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.parent?.closeFuture.whenComplete { _ in channel.close(promise: nil) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(handlers())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let result = try await body(try #require(listener.localAddress?.port))
            try await listener.close()
            return result
        } catch {
            try? await listener.close()
            throw error
        }
    }
}
