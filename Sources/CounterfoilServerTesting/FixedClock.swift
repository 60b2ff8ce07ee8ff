import CounterfoilProtocol
public import Foundation

/// A monotonic clock and a wall clock that change only when a test sets or moves them.
public final class FixedClock: Sendable {
    private struct State {
        var now: Date
        var jump: TimeInterval = 0
    }

    private let time: Mutex<State>

    /// Creates a clock with both times at `start`, by default a whole second in January 2027.
    public init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        time = Mutex(State(now: start))
    }

    /// The monotonic time, which only ``set(_:)`` and ``advance(by:)`` change.
    public var now: Date { time.withLock { $0.now } }

    /// The wall clock: ``now`` plus the seconds of every ``jump(by:)``.
    public var wall: Date { time.withLock { $0.now + $0.jump } }

    /// Sets ``now`` to a time, which may be in the past; ``wall`` keeps its difference from ``now``.
    public func set(_ now: Date) { time.withLock { $0.now = now } }

    /// Moves only the wall clock, as when an operator or a time server sets it; negative seconds move it back.
    public func jump(by seconds: TimeInterval) { time.withLock { $0.jump += seconds } }

    /// Moves both clocks; negative seconds move them back.
    public func advance(by seconds: TimeInterval) { time.withLock { $0.now += seconds } }
}
