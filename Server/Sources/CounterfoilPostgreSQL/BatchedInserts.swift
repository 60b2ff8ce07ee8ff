import CounterfoilSQL
public import CounterfoilStore
public import Foundation
import PostgreSQLDriver

extension PostgreSQLStore {
    /// Records the use of a client assertion (RFC 7523 §3); returns false if an unexpired assertion with this digest is
    /// already recorded by another attempt.
    public func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, attempt: CommitAttempt, now: Date
    ) async throws(StoreFault) -> Bool {
        // The mark of the attempt lets the same commit be sent again.
        try await traced { () async throws(StoreFault) in
            try await connections.commit(
                AssertionInsert(digest: digest, expires: expires, attempt: attempt, now: now), with: engine.assertions,
                by: deadline, isRepeatable: true)
        }
    }
}

/// The note of a used client assertion, which shares its transaction with others.
///
/// No other operation reads the table, so these commits need no order with those of the store: the conflict of two
/// keys in the index decides.
struct AssertionInsert: BatchedCommit {
    let digest: ArtefactDigest
    let expires: Date
    let attempt: CommitAttempt
    let now: Date

    var key: [UInt8] { digest.bytes }

    static func statements(for batch: [Self]) -> [Statement] {
        [
            Statement(
                """
                INSERT INTO assertions (digest, expires_at, attempt)
                SELECT digest, expires_at, attempt
                FROM unnest($1::bytea[], $2::bigint[], $3::bytea[]) AS new (digest, expires_at, attempt)
                ON CONFLICT (digest) DO UPDATE SET expires_at = excluded.expires_at, attempt = excluded.attempt
                WHERE assertions.expires_at < $4 OR assertions.attempt = excluded.attempt
                RETURNING digest
                """, batch.map { Data($0.digest.bytes) }, batch.map(\.expires.microseconds),
                batch.map { Data($0.attempt.bytes) }, (batch.map(\.now).min() ?? .distantPast).microseconds)
        ]
    }

    static func outcomes(of batch: [Self], from rows: [Rows]) throws -> [Bool] {
        try InsertedDigests(rows.first).contain(batch.map(\.digest))
    }
}

/// The note of a used DPoP proof, which shares its transaction with others.
///
/// It has a row in each of several partitions. The proof is new if all of them are.
struct ProofInsert: BatchedCommit {
    let proof: UsedProof
    let now: Date

    var key: [UInt8] { proof.digest.bytes }

    private var slots: [ProofSlot] { ProofSlot.slots(from: now, until: proof.expires) }

    static func statements(for batch: [Self]) -> [Statement] {
        let rows = batch.flatMap { note in note.slots.map { (slot: $0.number, digest: Data(note.key)) } }
        return [
            // The commit does not wait for the disk.
            Statement("SELECT set_config('synchronous_commit', 'off', true)"),
            Statement(
                """
                INSERT INTO used_proofs (slot, digest)
                SELECT slot, digest FROM unnest($1::bigint[], $2::bytea[]) AS new (slot, digest)
                ON CONFLICT DO NOTHING RETURNING digest
                """, rows.map { $0.slot }, rows.map { $0.digest }),
        ]
    }

    static func outcomes(of batch: [Self], from rows: [Rows]) throws -> [Bool] {
        let digests = try InsertedDigests(rows.last)
        return batch.map { digests.count(of: $0.proof.digest) == $0.slots.count }
    }
}

/// The digests that a gathered statement has returned: those of the rows that it has written.
private struct InsertedDigests {
    /// The number of rows of each digest.
    private let written: [ArtefactDigest: Int]

    init(_ rows: Rows?) throws {
        var written: [ArtefactDigest: Int] = [:]
        _ = try rows?.forEach { columns in
            written[try columns.digest(), default: 0] += 1
            return .next
        }
        self.written = written
    }

    func contain(_ digests: [ArtefactDigest]) -> [Bool] { digests.map { written[$0] != nil } }

    func count(of digest: ArtefactDigest) -> Int { written[digest] ?? 0 }
}
