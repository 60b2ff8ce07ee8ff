import CounterfoilProtocol
import HummingbirdCore
import Logging
import NIOCore

/// The connections of a server that are set up and that no task handles yet.
///
/// NIO ends the process if a server drops such a connection. A server must therefore drain them before its task is
/// cancelled.
final class PendingConnections: Sendable {
    private struct State {
        var count = 0
        var isDraining = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Adds a connection, and returns false if the server stops.
    func add() -> Bool {
        state.withLock { state in
            guard !state.isDraining else { return false }
            state.count += 1
            return true
        }
    }

    /// Removes a connection when a task handles it or its setup has failed.
    func remove() {
        let waiter = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    /// Refuses new connections and waits until no connection is pending.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                state.isDraining = true
                if state.count > 0 { state.waiter = continuation }
                return state.count == 0
            }
            if isEmpty { continuation.resume() }
        }
    }
}

/// An HTTP/1.1 connection that is counted as pending from its setup until a task handles it.
@available(iOS 17, *)
struct CountedChannel: ServerChildChannel {
    private let channel: HTTP1Channel
    private let pending: PendingConnections

    init(_ channel: HTTP1Channel, _ pending: PendingConnections) {
        self.channel = channel
        self.pending = pending
    }

    func setup(channel accepted: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        guard pending.add() else {
            accepted.close(promise: nil)
            return accepted.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        let ready = channel.setup(channel: accepted, logger: logger)
        ready.whenFailure { [pending] _ in pending.remove() }
        return ready
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        pending.remove()
        await channel.handle(value: value, logger: logger)
    }
}
