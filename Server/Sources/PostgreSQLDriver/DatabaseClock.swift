package import Foundation
import NIOConcurrencyHelpers

/// The time of the database in one answer.
struct ClockMeasurement: Sendable {
    /// The expression for the time of the database: microseconds since 1970.
    static let sql = "(extract(epoch FROM clock_timestamp()) * 1000000)::int8"

    /// The time in the middle of the round trip, by the clock of this process.
    let middle: ContinuousClock.Instant
    /// The time of the database, in microseconds since 1970.
    let microseconds: Int64
    /// The maximum error: half of the round trip.
    let error: Duration

    init(sentAt: ContinuousClock.Instant, receivedAt: ContinuousClock.Instant, microseconds: Int64) {
        error = (receivedAt - sentAt) / 2
        middle = sentAt + error
        self.microseconds = microseconds
    }
}

/// The clock of the database, which every node shares, computed from the monotonic clock of this process.
///
/// Its error is at most half of the round trip of the best recent measurement. It never goes back. If the clock of the
/// database is set back, or a failover leads to a server whose clock is behind, this clock runs at half speed until the
/// two agree.
package final class DatabaseClock: Sendable {
    /// The time after which a measurement is too old, and the next answer is used for another.
    static let measurementAge = Duration.seconds(15)
    /// The rate at which two clocks can drift apart.
    private static let drift = 0.0005

    private struct State {
        var best: ClockMeasurement
        var measuredAt: ContinuousClock.Instant
        /// The time that was returned last, since 1970, and the instant of that call.
        ///
        /// It is exact, so that the clock does not stand still if it is read more than once in a microsecond.
        var last: Duration
        var lastAt: ContinuousClock.Instant
    }

    private let state: NIOLockedValueBox<State>

    init(_ first: ClockMeasurement) {
        state = NIOLockedValueBox(
            State(best: first, measuredAt: first.middle, last: .microseconds(first.microseconds), lastAt: first.middle))
    }

    /// Returns true if it is time for another measurement, which the caller then makes.
    func claimMeasurement(at instant: ContinuousClock.Instant = .now) -> Bool {
        state.withLockedValue { state in
            guard instant - state.measuredAt >= Self.measurementAge else { return false }
            state.measuredAt = instant
            return true
        }
    }

    /// Takes a measurement into account.
    ///
    /// A measurement with a long round trip says little. It counts only if the best one has become as uncertain by now,
    /// or if the two contradict each other.
    func note(_ measurement: ClockMeasurement) {
        state.withLockedValue { state in
            state.measuredAt = max(state.measuredAt, measurement.middle)
            let age = measurement.middle - state.best.middle
            let expected = state.best.microseconds + age.microseconds
            let bestError = state.best.error + age * Self.drift
            let difference = Duration.microseconds(abs(measurement.microseconds - expected))
            if measurement.error <= bestError || difference > measurement.error + bestError {
                state.best = measurement
            }
        }
    }

    /// Returns the current time of the database without asking it.
    package func now() -> Date { now(at: .now) }

    func now(at instant: ContinuousClock.Instant) -> Date {
        state.withLockedValue { state in
            let estimate = .microseconds(state.best.microseconds) + (instant - state.best.middle)
            let elapsed = max(.zero, instant - state.lastAt)
            // Half speed while the database is behind what this clock has already shown.
            state.last = max(estimate, state.last + elapsed / 2)
            state.lastAt = max(state.lastAt, instant)
            return Date(timeIntervalSince1970: Double(state.last.microseconds) / 1_000_000)
        }
    }
}

extension Duration {
    /// The whole microseconds.
    var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
