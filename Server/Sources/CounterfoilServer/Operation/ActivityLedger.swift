@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The numbers of sign-ins and refreshes of this process that the store does not have yet.
///
/// They are what the metrics have counted since the last time, so that no request counts twice or writes more. Several
/// servers add their numbers in the store.
final class ActivityLedger: Sendable {
    /// The time in seconds between two commits of numbers, unless there is a reason to write them at once.
    static let interval: TimeInterval = 60

    private struct State {
        /// The numbers of the process when they were last taken.
        var taken = ActivityCounts()
        /// The numbers that the store does not have, by hour: three for each hour of an outage.
        var pending: [Date: ActivityCounts] = [:]
        var writtenAt: Date?
    }

    private let store: any ActivityStore
    private let metrics: ServerMetrics
    private let state = Mutex(State())

    init(store: any ActivityStore, metrics: ServerMetrics) {
        self.store = store
        self.metrics = metrics
    }

    /// Notes what was counted since the last call as that of the current hour, and adds the numbers to those in the
    /// store if that is due; after a fault, they are kept for the next call.
    ///
    /// - Parameter atOnce: Whether the store gets the numbers even if it has got some within ``interval``.
    func settle(at now: Date, atOnce: Bool) async throws(StoreFault) {
        note(at: now)
        let pending = state.withLock { state -> [Date: ActivityCounts] in
            // A later time is from before the clock was set back.
            guard atOnce || state.writtenAt.map({ abs(now.timeIntervalSince($0)) >= Self.interval }) ?? true else {
                return [:]
            }
            defer { state.pending = [:] }
            state.writtenAt = now
            return state.pending
        }
        guard !pending.isEmpty else { return }
        do {
            try await store.addActivity(pending)
        } catch {
            // What may be stored is not added a second time.
            if case .unconfirmed = error { throw error }
            state.withLock { state in
                state.pending.merge(pending) { one, other in one.merging(other, uniquingKeysWith: +) }
            }
            throw error
        }
    }

    private func note(at now: Date) {
        let counted = metrics.activity
        state.withLock { state in
            for (kind, count) in counted {
                let new = count - state.taken[kind, default: 0]
                // Another call can have taken a later number.
                guard new > 0 else { continue }
                state.pending[ActivityHour.beginning(of: now), default: [:]][kind, default: 0] += new
                state.taken[kind] = count
            }
        }
    }
}
