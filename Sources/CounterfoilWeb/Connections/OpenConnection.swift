import CounterfoilProtocol
import NIOCore
import NIOSSL

/// A connection that the server can close to make room for another one.
protocol ClosableConnection: Sendable {
    /// Calls `isBusy` on the event loop of the connection, and closes the connection if the result is false.
    func close(unless isBusy: @escaping @Sendable () -> Bool)
}

struct ClosableChannel: ClosableConnection {
    let channel: any Channel

    func close(unless isBusy: @escaping @Sendable () -> Bool) {
        channel.eventLoop.execute { [channel] in
            guard !isBusy() else { return }
            // With TLS, a close waits for the other side, and the next connection needs the place now.
            if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                channel.close(promise: nil)
            }
        }
    }
}

/// An accepted connection that ``OpenConnections`` counts.
final class OpenConnection: Sendable {
    /// The phase of a connection.
    ///
    /// Only the event loop of the connection changes its phase.
    enum Phase: UInt64 {
        /// No request head has arrived yet.
        case silent
        /// The last request is answered, and no further request head has arrived.
        case idle
        /// The body of a request is arriving.
        case reading
        /// A request is being answered.
        case answering
    }

    let closable: any ClosableConnection
    /// The key of the source address for limits (`IPAddress.place`).
    let place: String
    let share: BodyBudget.Share
    let slot: Int
    private let budget: BodyBudget
    private let mark: Mutex<UInt64>
    private let eviction = Mutex(false)

    init(
        _ closable: any ClosableConnection, from place: String, share: BodyBudget.Share, slot: Int, budget: BodyBudget
    ) {
        self.closable = closable
        self.place = place
        self.share = share
        self.slot = slot
        self.budget = budget
        mark = Mutex(Self.mark(.silent))
    }

    /// The phase, and the uptime in nanoseconds at which it began.
    var current: (phase: Phase, since: UInt64) {
        let value = mark.withLock { $0 }
        return (Phase(rawValue: value & 3) ?? .answering, value >> 2)
    }

    func enter(_ phase: Phase) { mark.withLock { $0 = Self.mark(phase) } }

    /// Counts bytes of a body; returns false if they would exceed a limit.
    func take(_ count: Int) -> Bool { budget.take(count, for: share) }

    /// Releases counted bytes of a body.
    func giveBack(_ count: Int) { budget.giveBack(count, for: share) }

    /// Whether the connection was evicted.
    ///
    /// An evicted connection closes after the response to the current request.
    var isEvicted: Bool { eviction.withLock { $0 } }

    /// Closes the connection, but not before the response to a request that is being answered.
    func evict() {
        eviction.withLock { $0 = true }
        closable.close { [self] in current.phase == .answering }
    }

    private static func mark(_ phase: Phase) -> UInt64 {
        NIODeadline.now().uptimeNanoseconds << 2 | phase.rawValue
    }
}
