public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Records the use of a client assertion (RFC 7523 §3); returns false if an unexpired assertion with this
    /// digest is already recorded by another attempt.
    public func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, attempt: CommitAttempt, now: Date
    ) async throws(StoreFault) -> Bool {
        try await commit { database in
            try database.runLast(
                """
                INSERT INTO assertions (digest, expires_at, attempt) VALUES (?1, ?2, ?4)
                ON CONFLICT (digest) DO UPDATE SET expires_at = ?2, attempt = ?4
                WHERE assertions.expires_at < ?3 OR assertions.attempt = ?4
                """,
                Data(digest.bytes),
                expires.microseconds,
                now.microseconds,
                Data(attempt.bytes)
            ) == 1
        }
    }
}
