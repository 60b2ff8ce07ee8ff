import Foundation

/// A clock that starts at the wall-clock time of the process start and then follows the monotonic clock.
///
/// Records in the store expire by this clock. Setting the wall clock therefore signs no user out and ends no
/// grace period. The times in tokens come from the wall clock, because recipients compare them with their wall
/// clocks.
struct SteadyClock: Sendable {
    static let shared = SteadyClock()

    private let start = Date()
    private let origin = ContinuousClock.now

    var now: Date { start.addingTimeInterval((ContinuousClock.now - origin) / .seconds(1)) }
}
