@_spi(Counterfoil) import CounterfoilProtocol
public import Foundation

/// A monotonic clock and a wall clock that change only when a test sets or moves them.
public final class FixedClock: Sendable {
    /// A monotonic time, which the clocks of several servers can share.
    private final class SteadyTime: Sendable {
        let now: Mutex<Date>

        init(_ start: Date) { now = Mutex(start) }
    }

    private let steady: SteadyTime
    /// The seconds by which the wall clock is ahead of the monotonic clock.
    private let lead: Mutex<TimeInterval>

    private init(_ steady: SteadyTime, lead: TimeInterval) {
        self.steady = steady
        self.lead = Mutex(lead)
    }

    /// Creates a clock with both times at `start`, by default a whole second in January 2027.
    public convenience init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        self.init(SteadyTime(start), lead: 0)
    }

    /// The monotonic time, which only ``set(_:)`` and ``advance(by:)`` change.
    public var now: Date { steady.now.withLock { $0 } }

    /// The wall clock: ``now`` plus the seconds of every ``jump(by:)``.
    public var wall: Date { now + lead.withLock { $0 } }

    /// Sets ``now`` to a time, which may be in the past; ``wall`` keeps its difference from ``now``.
    public func set(_ now: Date) { steady.now.withLock { $0 = now } }

    /// Moves only the wall clock, as when an operator or a time server sets it; negative seconds move it back.
    public func jump(by seconds: TimeInterval) { lead.withLock { $0 += seconds } }

    /// Moves both clocks; negative seconds move them back.
    public func advance(by seconds: TimeInterval) { steady.now.withLock { $0 += seconds } }

    /// Returns the clock of another server on the same store, whose wall clock is ahead of this one.
    ///
    /// Both servers share ``now``, which is the clock of their store. Negative seconds are behind.
    public func ofAnotherServer(wallAhead seconds: TimeInterval) -> FixedClock {
        FixedClock(steady, lead: lead.withLock { $0 } + seconds)
    }
}
