import NIOCore
import Synchronization

/// The open connections to a receiver, the oldest first.
///
/// Browsers open connections in advance and leave them idle. Above a limit, the oldest connection is
/// closed, so that no client can exhaust the file descriptors of the process.
final class OpenConnections: Sendable {
    static let limit = 100

    /// The event that makes a connection send its last response because the receiver stops.
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
        // The connection is not active yet, and can respond only after it is.
        if isLate { channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(Farewell()) } }
    }

    /// Triggers the last response of every connection without one, and waits until all are closed or
    /// `grace` has passed.
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
        // This wait ignores cancellation, because a cancelled sign-in ends with it.
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
