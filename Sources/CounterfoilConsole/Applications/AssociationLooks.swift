import CounterfoilProtocol
import CounterfoilServer
import Foundation
import Synchronization

/// Counts how often somebody makes this server fetch files of other hosts; bounded in memory.
final class AssociationLooks: Sendable {
    /// How often one person may look within the window.
    static let limit = 5
    /// The window, in seconds.
    static let window = 60

    /// How many people are remembered at most; whoever looked longest ago is forgotten first.
    private static let capacity = 10_000

    private let looks = Mutex<[PersonIdentifier: [Date]]>([:])

    /// Notes that somebody looks; otherwise the seconds until they may.
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
