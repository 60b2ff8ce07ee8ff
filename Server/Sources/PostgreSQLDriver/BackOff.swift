import Foundation

/// Pauses that double up to a limit, each with jitter.
package struct BackOff {
    private let first: Duration
    private let limit: Duration
    private var pause: Duration

    package init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
        pause = first
    }

    /// Returns the next pause: half of the planned one to all of it, so that nodes do not try at the same moment.
    package mutating func next() -> Duration {
        defer { pause = min(pause * 2, limit) }
        return pause * Double.random(in: 0.5...1)
    }

    mutating func reset() { pause = first }

    /// Pauses the thread, which waits for nothing else.
    package static func sleep(_ pause: Duration) { Thread.sleep(forTimeInterval: pause / .seconds(1)) }
}
