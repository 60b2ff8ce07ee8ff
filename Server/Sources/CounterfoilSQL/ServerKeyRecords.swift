package import CounterfoilStore
package import Foundation

/// The token families that were last used before a time.
package struct UsedFamilies: Sendable, Hashable {
    /// The number of families.
    package let count: Int
    /// The latest use of one of them; nil if there are none.
    package let lastUsedAt: Date?
    /// The latest end of one of them; nil if there are none.
    package let expiresAt: Date?
}

extension SQLStore {
    /// Counts the token families that were last used at a time or before it, and that have not expired.
    ///
    /// Each use gives the client a token of the current server key, also if the token is not rotated. A use within 15
    /// minutes after another one is not always recorded. The call reads every token family.
    ///
    /// - Parameters:
    ///   - end: The time until which the last use was.
    ///   - now: The current time.
    package func familiesLastUsed(
        through end: Date, at now: Date
    ) async throws(StoreFault) -> UsedFamilies {
        let row = try await read { database in
            try database.first(
                """
                SELECT count(*), max(last_used_at), max(expires_at) FROM refresh_tokens
                WHERE last_used_at <= ? AND expires_at > ?
                """,
                end.microseconds,
                now.microseconds
            ) { columns in
                UsedFamilies(
                    count: Int(try columns.integer()), lastUsedAt: try columns.optionalDate(),
                    expiresAt: try columns.optionalDate())
            }
        }
        return row ?? UsedFamilies(count: 0, lastUsedAt: nil, expiresAt: nil)
    }

    /// Reads the encrypted account keys for all authorities.
    package func accountKeys() async throws(StoreFault) -> [(authority: String, sealed: [UInt8])] {
        try await read { database in
            try database.all("SELECT authority, sealed FROM authority_accounts ORDER BY authority") { columns in
                columns.record = "account at a certificate authority"
                return (authority: try columns.text(), sealed: try columns.bytes())
            }
        }
    }
}
