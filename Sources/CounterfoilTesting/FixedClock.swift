public import Foundation
import Synchronization

/// A clock that stands still until a test moves it, with a clock on the wall beside it that somebody can set.
public final class FixedClock: Sendable {
    private struct State {
        var now: Date
        var jump: TimeInterval = 0
    }

    private let time: Mutex<State>

    /// A clock that shows a time; a whole second in January 2027 unless given.
    public init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        time = Mutex(State(now: start))
    }

    /// The time that the clock shows.
    public var now: Date { time.withLock { $0.now } }

    /// The time that the clock on the wall shows.
    public var wall: Date { time.withLock { $0.now + $0.jump } }

    /// Sets the clock to a time, which may be an earlier one.
    public func set(_ now: Date) { time.withLock { $0.now = now } }

    /// Sets the clock on the wall alone forward by seconds, which may be negative, as an operator or a time server does.
    public func jump(by seconds: TimeInterval) { time.withLock { $0.jump += seconds } }

    /// Moves the clock by seconds, which may be negative.
    public func advance(by seconds: TimeInterval) { time.withLock { $0.now += seconds } }
}
