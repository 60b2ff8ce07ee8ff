public import CounterfoilStore
public import Foundation
import PostgreSQLDriver

/// A partition of the used DPoP proofs: those that could be sent again within the same five minutes.
///
/// A proof is noted in the partition of its use, in that of its expiry and in those between. A second proof with the
/// same `jti` has a partition in common with it until the first one expires, whatever its `iat` is. So the conflict of
/// two keys in the index decides.
///
/// The partitions are used in turn. When one is used again, its former proofs have long expired and are deleted.
struct ProofSlot: Sendable, Hashable {
    /// The length of the time that one partition is for, in seconds.
    private static let length: TimeInterval = 300
    private static let count: Int64 = 8

    let number: Int64

    static let all = (0..<count).map(ProofSlot.init(number:))

    private init(number: Int64) { self.number = number }

    private init(turn: Int64) { number = ((turn % Self.count) + Self.count) % Self.count }

    /// The partition of a time.
    init(of time: Date) { self.init(turn: Self.turn(of: time)) }

    /// The partitions from the use of a proof to its expiry, the earliest one first; at most four.
    ///
    /// A proof expires at most ten minutes after its use.
    static func slots(from now: Date, until expires: Date) -> [ProofSlot] {
        let last = turn(of: expires)
        return (min(max(turn(of: now), last - 3), last)...last).map(ProofSlot.init(turn:))
    }

    private static func turn(of time: Date) -> Int64 { Int64((time.timeIntervalSince1970 / length).rounded(.down)) }

    /// The partition whose proofs are deleted at a time: that of fifteen minutes before it.
    ///
    /// A proof expires at most ten minutes after its use, and the clocks of two servers can differ by ten minutes more.
    static func expired(at now: Date) -> ProofSlot { ProofSlot(of: now - 3 * length) }
}

extension PostgreSQLStore {
    /// Notes the use of a DPoP proof, unless a server has noted it or another one with its key and `jti` before.
    ///
    /// The commit does not wait for the disk, so a crash of the database can lose the proofs of the last second. Each
    /// process limits the number of proofs that it notes.
    public func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        guard proofBudget.take(of: proof.holder, until: proof.expires, at: now) else { return .full }
        do {
            let isNew = try await traced { () async throws(StoreFault) in
                try await connections.commit(
                    ProofInsert(proof: proof, now: now), with: engine.proofs, by: deadline)
            }
            if !isNew { proofBudget.giveBack(of: proof.holder, until: proof.expires) }
            return isNew ? .new : .used
        } catch {
            proofBudget.giveBack(of: proof.holder, until: proof.expires)
            throw error
        }
    }

    /// Deletes expired records, and used DPoP proofs of the partition that is due.
    ///
    /// Each kind of record has a transaction of its own. A proof is a small row that no other table refers to, so many
    /// are deleted at once.
    public func deleteExpired(_ limits: ExpirationLimits, atMost rows: Int) async throws(StoreFault) -> Int {
        let removed = try await deleteExpiredSeparately(limits, atMost: rows)
        let partition = "used_proofs_\(ProofSlot.expired(at: limits.now).number)"
        let statement = Statement(
            "DELETE FROM \(partition) WHERE ctid = ANY(ARRAY(SELECT ctid FROM \(partition) LIMIT $1))", 50 * rows)
        return try await removed + connections.commit([statement]) { rows in rows.last?.changes ?? 0 }
    }
}
