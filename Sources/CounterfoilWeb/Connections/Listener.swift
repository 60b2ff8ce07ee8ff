import Logging
import NIOCore
import NIOExtras
import NIOPosix
import ServiceLifecycle

/// The service that accepts connections.
///
/// On a graceful shutdown, it stops accepting connections and ends after the last response.
struct Listener: Service {
    let host: String
    let port: Int
    let child: ConnectionChannel
    let logger: Logger
    let onListening: @Sendable (Int) async -> Void

    /// The maximum number of connections that wait in the kernel to be accepted; `net.core.somaxconn` can lower it.
    private static let backlog: CInt = 2048

    func run() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let quiescing = ServerQuiescingHelper(group: group)
        let (child, connections, logger) = (child, child.connections, logger)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(AcceptHandler(connections))
                    try pipeline.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in child.setUp(channel, logger: logger) }
            .bind(host: host, port: port)
            .get()
        await onListening(channel.localAddress?.port ?? port)

        try await cancelWhenGracefulShutdown {
            try await withTaskCancellationHandler {
                try await channel.closeFuture.get()
            } onCancel: {
                quiescing.initiateShutdown(promise: nil)
            }
        }
        let end = channel.eventLoop.makePromise(of: Void.self)
        quiescing.initiateShutdown(promise: end)
        await withTaskCancellationHandler {
            try? await end.futureResult.get()
        } onCancel: {
            connections.closeAll()
        }
    }
}
