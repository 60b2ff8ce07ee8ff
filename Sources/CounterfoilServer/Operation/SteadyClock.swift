import Foundation

/// The time as this process has counted it since its start: right when it began, and never set since.
///
/// What the store holds is judged by this clock, so that nobody is signed out, and no grace period ends, because the clock on the
/// wall was set; what stands in tokens is by the clock on the wall, which their readers share.
struct SteadyClock: Sendable {
    /// The clock of this process.
    static let shared = SteadyClock()

    private let start = Date()
    private let origin = ContinuousClock.now

    /// The time now.
    var now: Date { start.addingTimeInterval((ContinuousClock.now - origin) / .seconds(1)) }
}
