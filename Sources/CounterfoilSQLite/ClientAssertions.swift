public import CounterfoilServer
public import Foundation
import GRDB

extension SQLiteStore: ClientAssertionStore {
    /// Records the use of a client assertion (RFC 7523 §3); returns false if an unexpired assertion with this
    /// digest is already recorded.
    public func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, now: Date
    ) async throws(StoreFault) -> Bool {
        try await commits.commit { database in
            try database.run(
                """
                INSERT INTO assertions (digest, expires_at) VALUES (?1, ?2)
                ON CONFLICT (digest) DO UPDATE SET expires_at = ?2 WHERE expires_at < ?3
                """,
                Data(digest.bytes),
                expires.microseconds,
                now.microseconds
            ) == 1
        }
    }
}
