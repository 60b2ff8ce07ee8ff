import Synchronization

/// The bytes of request bodies that the process holds, for all connections together and for each source.
///
/// The first bytes of each body are free, so that a token request is never refused because others upload. Their number is
/// bounded by the number of connections.
final class BodyBudget: Sendable {
    /// The bytes of a body that are not counted.
    static let freeBytes = 8 * 1024

    private let total: Int
    private let perSource: Int
    private let used = Atomic<Int>(0)
    private let refusals = Atomic<Int>(0)

    /// The bytes that one source holds.
    final class Share: Sendable {
        fileprivate let used = Atomic<Int>(0)
        fileprivate let isLimited: Bool

        init(isLimited: Bool) { self.isLimited = isLimited }
    }

    init(total: Int = 64 << 20, perSource: Int = 8 << 20) {
        self.total = total
        self.perSource = perSource
    }

    /// The bytes that are counted now.
    var usedBytes: Int { used.load(ordering: .relaxed) }

    /// The number of bodies that were refused.
    var refusedBodies: Int { refusals.load(ordering: .relaxed) }

    /// Counts bytes of a body; false, with nothing counted, when they exceed a limit.
    func take(_ count: Int, for share: Share) -> Bool {
        let ofAll = used.add(count, ordering: .relaxed).newValue
        let ofSource = share.used.add(count, ordering: .relaxed).newValue
        if ofAll <= total, ofSource <= perSource || !share.isLimited { return true }
        giveBack(count, for: share)
        refusals.add(1, ordering: .relaxed)
        return false
    }

    /// Ends the counting of bytes.
    func giveBack(_ count: Int, for share: Share) {
        used.subtract(count, ordering: .relaxed)
        share.used.subtract(count, ordering: .relaxed)
    }
}
