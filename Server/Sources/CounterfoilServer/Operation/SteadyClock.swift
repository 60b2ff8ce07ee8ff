package import Foundation

/// A clock that starts at the wall-clock time of the process start and then follows the monotonic clock.
///
/// It is the `StoreClock` of a store that only this process uses.
package struct SteadyClock: Sendable {
    package static let shared = SteadyClock()

    private let start = Date()
    private let origin = ContinuousClock.now

    package var now: Date { start.addingTimeInterval((ContinuousClock.now - origin) / .seconds(1)) }
}
