import NIOCore
import Synchronization

/// The open connections to a receiver, the oldest first.
///
/// Browsers open connections in advance and leave them idle. If more than ``limit`` connections are open,
/// the oldest is closed, so that no client can exhaust the file descriptors of the process.
final class ReceiverConnections: Sendable {
    static let limit = 100

    /// The event that tells a connection to send its response now, because the receiver shuts down.
    struct ShutdownEvent: Sendable {}

    private struct State {
        var channels: [any Channel] = []
        var isShuttingDown = false
    }

    private let state = Mutex(State())

    func add(_ channel: any Channel) {
        let (oldest, isShuttingDown) = state.withLock { state in
            state.channels.append(channel)
            let oldest = state.channels.count > Self.limit ? state.channels.removeFirst() : nil
            return (oldest, state.isShuttingDown)
        }
        oldest?.close(promise: nil)
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { $0.channels.removeAll { $0 === channel } }
        }
        // A connection can respond only when it is active, which is after this function returns. Fire the event then.
        if isShuttingDown {
            channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(ShutdownEvent()) }
        }
    }

    /// Tells every connection that has sent no response yet to respond that the wait has ended.
    ///
    /// Returns when all connections are closed or `limit` has passed.
    func drain(within limit: TimeAmount) async {
        let channels = state.withLock { state in
            state.isShuttingDown = true
            return state.channels
        }
        guard let loop = channels.first?.eventLoop else { return }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ShutdownEvent()) }
        let closed = loop.makePromise(of: Void.self)
        let timer = loop.scheduleTask(in: limit) { closed.succeed() }
        EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: loop).whenComplete { _ in closed.succeed() }
        // This wait ignores cancellation of the task, because a cancelled sign-in also has to drain connections.
        try? await closed.futureResult.get()
        timer.cancel()
    }

    func closeAll() async {
        let open = state.withLock { $0.channels }
        for channel in open {
            try? await channel.close().get()
        }
    }
}
