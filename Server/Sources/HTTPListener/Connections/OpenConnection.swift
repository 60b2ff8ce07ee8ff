import NIOConcurrencyHelpers
import NIOCore
import NIOSSL

/// A connection that the server can close to make room for another one.
protocol ClosableConnection: Sendable {
    /// Calls `isBusy` on the event loop of the connection, and closes the connection if the result is false.
    func close(unless isBusy: @escaping @Sendable () -> Bool)

    /// Calls `isBusy` on the event loop of the connection after a delay. If the result is false, it sends what was
    /// written, and closes the connection.
    func end(after delay: TimeAmount, unless isBusy: @escaping @Sendable () -> Bool)
}

struct ClosableChannel: ClosableConnection {
    let channel: any Channel

    func close(unless isBusy: @escaping @Sendable () -> Bool) {
        channel.eventLoop.execute { [channel] in
            guard !isBusy() else { return }
            channel.pipeline.fireUserInboundEventTriggered(StreamedConnectionHandler.EndNow())
            // With TLS, a close waits for the other side, and the next connection needs the place now.
            if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                channel.close(promise: nil)
            }
        }
    }

    func end(after delay: TimeAmount, unless isBusy: @escaping @Sendable () -> Bool) {
        channel.eventLoop.scheduleTask(in: delay) { [channel] in
            if !isBusy() { channel.pipeline.fireUserInboundEventTriggered(RequestHandler.EndIdle()) }
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
    /// The key of the source address for limits (`IPAddress.source`).
    let sourceName: String
    let share: BodyBudget.Share
    let slot: Int
    let pauses: PauseWatch
    private let budget: BodyBudget
    private let mark: NIOLockedValueBox<UInt64>
    private let ending = NIOLockedValueBox(Ending())

    private struct Ending {
        var isEvicted = false
        var isLast = false
    }

    init(
        _ closable: any ClosableConnection, from sourceName: String, share: BodyBudget.Share, slot: Int,
        budget: BodyBudget,
        pauses: PauseWatch
    ) {
        self.closable = closable
        self.sourceName = sourceName
        self.share = share
        self.slot = slot
        self.budget = budget
        self.pauses = pauses
        mark = NIOLockedValueBox(Self.mark(.silent))
    }

    /// The phase, and the uptime in nanoseconds at which it began.
    var current: (phase: Phase, since: UInt64) {
        let value = mark.withLockedValue { $0 }
        return (Phase(rawValue: value & 3) ?? .answering, value >> 2)
    }

    func enter(_ phase: Phase) { mark.withLockedValue { $0 = Self.mark(phase) } }

    /// Counts bytes of a body; returns false if they would exceed a limit.
    func take(_ count: Int) -> Bool { budget.take(count, for: share) }

    /// Releases counted bytes of a body.
    func giveBack(_ count: Int) { budget.giveBack(count, for: share) }

    /// Whether the connection was evicted.
    ///
    /// An evicted connection closes after the response to the current request.
    var isEvicted: Bool { ending.withLockedValue { $0.isEvicted } }

    /// Whether the connection closes after the response to the current or the next request.
    var closesAfterResponse: Bool { ending.withLockedValue { $0.isEvicted || $0.isLast } }

    /// Lets the connection close after its next response, because the server stops.
    func closeAfterResponse() { ending.withLockedValue { $0.isLast = true } }

    /// The time that a new connection has for its first request when the server stops.
    private static let firstRequestGrace = TimeAmount.seconds(1)

    /// Closes the connection if it waits for a request; a new one is closed only if its first request is late.
    func endIdle() {
        closable.end(after: .zero) { [self] in current.phase != .idle }
        closable.end(after: Self.firstRequestGrace) { [self] in current.phase != .silent }
    }

    /// Closes the connection, but not before the response to a request that is being answered.
    func evict() {
        ending.withLockedValue { $0.isEvicted = true }
        closable.close { [self] in current.phase == .answering }
    }

    private static func mark(_ phase: Phase) -> UInt64 {
        NIODeadline.now().uptimeNanoseconds << 2 | phase.rawValue
    }
}
