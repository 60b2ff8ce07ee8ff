import NIOCore
import Synchronization

/// The open connections to a receiver, the oldest first.
///
/// Browsers open connections in advance and leave them idle. Above a limit, the oldest connection is
/// closed, so that no client can exhaust the file descriptors of the process.
final class ReceiverConnections: Sendable {
    static let limit = 100

    /// The event that makes a connection send its last response because the receiver stops.
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
        // The connection is not active yet, and can respond only after it is.
        if isShuttingDown {
            channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(ShutdownEvent()) }
        }
    }

    /// Triggers the last response of every connection without one, and waits until all are closed or
    /// `limit` has passed.
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
        // This wait ignores cancellation, because a cancelled sign-in ends with it.
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
