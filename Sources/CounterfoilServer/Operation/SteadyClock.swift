import Foundation

/// A clock that starts at the wall-clock time of the process start and then follows the monotonic clock.
///
/// Records in the store expire by this clock, so that setting the wall clock signs no user out and ends no
/// grace period. The times in tokens come from the wall clock, which their readers share.
struct SteadyClock: Sendable {
    /// The clock of this process.
    static let shared = SteadyClock()

    private let start = Date()
    private let origin = ContinuousClock.now

    /// The time now.
    var now: Date { start.addingTimeInterval((ContinuousClock.now - origin) / .seconds(1)) }
}
