import NIOCore
import Synchronization

/// The open connections to a receiver, the oldest first.
///
/// Browsers open connections ahead of need and leave them silent. They cost next to nothing, and beyond a number the oldest
/// are closed, so that nobody can use up the process's files.
final class OpenConnections: Sendable {
    static let limit = 100

    /// What a connection is told when the receiver stops: whoever waits at its other end gets a last answer.
    struct Farewell: Sendable {}

    private struct Guests {
        var channels: [any Channel] = []
        var areLeaving = false
    }

    private let guests = Mutex(Guests())

    func add(_ channel: any Channel) {
        let (oldest, isLate) = guests.withLock { guests in
            guests.channels.append(channel)
            let oldest = guests.channels.count > Self.limit ? guests.channels.removeFirst() : nil
            return (oldest, guests.areLeaving)
        }
        oldest?.close(promise: nil)
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.guests.withLock { $0.channels.removeAll { $0 === channel } }
        }
        // It is about to be opened for its other end, and can answer only then.
        if isLate { channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(Farewell()) } }
    }

    /// Gives every connection that has no answer yet a last one, and the other ends a moment to take it.
    func sayFarewell(within grace: TimeAmount) async {
        let leaving = guests.withLock { guests in
            guests.areLeaving = true
            return guests.channels
        }
        guard let loop = leaving.first?.eventLoop else { return }
        for channel in leaving { channel.pipeline.fireUserInboundEventTriggered(Farewell()) }
        let gone = loop.makePromise(of: Void.self)
        let alarm = loop.scheduleTask(in: grace) { gone.succeed() }
        EventLoopFuture.andAllComplete(leaving.map(\.closeFuture), on: loop).whenComplete { _ in gone.succeed() }
        // Nobody is cancelled here: this is how a wait that was cancelled ends.
        try? await gone.futureResult.get()
        alarm.cancel()
    }

    func closeAll() async {
        let open = guests.withLock { $0.channels }
        for channel in open {
            try? await channel.close().get()
        }
    }
}
