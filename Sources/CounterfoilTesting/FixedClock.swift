public import Foundation
import Synchronization

/// A clock that stands still until a test moves it.
public final class FixedClock: Sendable {
    private let time: Mutex<Date>

    /// A clock that shows a time; a whole second in January 2027 unless given.
    public init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        time = Mutex(start)
    }

    /// The time that the clock shows.
    public var now: Date { time.withLock { $0 } }

    /// Sets the clock to a time, which may be an earlier one.
    public func set(_ now: Date) { time.withLock { $0 = now } }

    /// Moves the clock by seconds, which may be negative.
    public func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
