import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// A rate limit on the association checks that a user may start, with bounded memory.
final class AssociationCheckLimiter: Sendable {
    /// The maximum number of checks of one user within `window` seconds.
    static let limit = 5
    static let window = 60

    /// The maximum number of users in memory; the user with the oldest last check is dropped first.
    private static let capacity = 10_000

    private let looks = Mutex<[PersonIdentifier: [Date]]>([:])

    /// Admits a check and returns nil, or returns the seconds until the user may retry.
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
