import CounterfoilProtocol
import CounterfoilServer
import Foundation
import Synchronization

/// A rate limit on the fetches of association files that a user may start, with bounded memory.
final class AssociationCheckLimiter: Sendable {
    /// The most fetches of one user within the window.
    static let limit = 5
    static let window = 60

    /// The most users in memory; the one with the oldest fetch is dropped first.
    private static let capacity = 10_000

    private let looks = Mutex<[PersonIdentifier: [Date]]>([:])

    /// Admits a fetch and returns nil, or returns the seconds until the user may retry.
    func admit(_ person: PersonIdentifier, now: Date) -> Int? {
        let start = now.addingTimeInterval(-TimeInterval(Self.window))
        return looks.withLock { looks in
            let recent = (looks[person] ?? []).filter { $0 > start }
            if recent.count >= Self.limit, let freeing = recent.first {
                return max(1, Int((freeing.timeIntervalSince(start)).rounded(.up)))
            }
            if looks.count >= Self.capacity, looks[person] == nil {
                looks = looks.filter { ($0.value.last ?? .distantPast) > start }
                if looks.count >= Self.capacity,
                    let oldest = looks.min(by: { ($0.value.last ?? now) < ($1.value.last ?? now) })
                {
                    looks[oldest.key] = nil
                }
            }
            looks[person] = recent + [now]
            return nil
        }
    }
}
