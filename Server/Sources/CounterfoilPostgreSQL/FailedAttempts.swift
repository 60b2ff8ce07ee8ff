import CounterfoilSQL
public import CounterfoilStore
public import Foundation
import PostgreSQLDriver

extension PostgreSQLStore {
    /// Decides whether an attempt can proceed, and counts it as a failure.
    ///
    /// Serializable transactions conflict if the rows of their attempts are close to each other in the index, and few
    /// rows always are. So an attempt is no commit of the order (`TransactionOpening.ordinary`): it locks a row for
    /// each of its keys, and then sees every attempt of another server with one of them.
    public func admitAttempt(_ attempt: CountedAttempt, at now: Date) async throws(StoreFault) -> AttemptVerdict {
        let early = try await read { database in try database.verdict(on: attempt, at: now) }
        if case .tooEarly = early { return early }
        // The table has a row for each first byte of a digest.
        let locks = Set(attempt.allKeys.map { Int64($0.digest.bytes.first ?? 0) }).sorted()
        return try await traced { () async throws(StoreFault) in
            try await connections.commit(by: deadline) { transaction in
                try transaction.run(
                    "SELECT slot FROM attempt_locks WHERE slot = ANY($1) ORDER BY slot FOR UPDATE", locks)
                let verdict = try SQLConnection(transaction).verdict(on: attempt, at: now)
                let counted = attempt.counted(after: verdict)
                guard !counted.isEmpty else { return verdict }
                try transaction.run(
                    """
                    INSERT INTO attempts (digest, at, expires_at)
                    SELECT digest, $2, expires_at FROM unnest($1::bytea[], $3::bigint[]) AS counted (digest, expires_at)
                    """, counted.map { Data($0.digest.bytes) }, now.microseconds,
                    counted.map { (now + $0.limit.window).microseconds })
                return verdict
            }
        }
    }

    /// Deletes all failures under some digests, and only those of one attempt under others.
    public func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async throws(StoreFault) {
        let statements =
            forgotten.map { Statement(Statement.numbered(StoreQuery.forgetAttempts), Data($0.bytes)) }
            + withdrawn.map {
                Statement(Statement.numbered(StoreQuery.withdrawAttempt), Data($0.bytes), time.microseconds)
            }
        try await traced { () async throws(StoreFault) in
            try await connections.commit(statements, by: deadline) { _ in }
        }
    }
}
