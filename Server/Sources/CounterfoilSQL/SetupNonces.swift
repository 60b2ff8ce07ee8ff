public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Stores the number of the link for the first administrator, unless a later one than `limit` exists, or an
    /// administrator.
    public func renewSetupNonce(
        _ nonce: SetupNonce, unlessStoredAfter limit: Date, at now: Date
    ) async throws(StoreFault) -> SetupNonce? {
        try await commit { database in
            guard try database.answers(Self.hasAdministrator) == [false] else { return nil }
            try database.send(
                """
                INSERT INTO setup_nonce (id, nonce, created_at) VALUES (1, ?1, ?2)
                ON CONFLICT (id) DO UPDATE SET nonce = ?1, created_at = ?2
                WHERE setup_nonce.created_at <= ?3 OR setup_nonce.created_at > ?2
                """,
                Data(nonce.bytes),
                now.microseconds,
                limit.microseconds
            )
            return try database.setupNonce()
        }
    }

    /// Reads the number of the link for the first administrator; nil if there is none, or if there is an administrator.
    public func setupNonce() async throws(StoreFault) -> SetupNonce? {
        try await read { database in try database.setupNonce() }
    }

    static var hasAdministrator: String { "SELECT EXISTS (SELECT 1 FROM people WHERE is_administrator = 1)" }
}

extension SQLConnection {
    fileprivate func setupNonce() throws -> SetupNonce? {
        try first(
            """
            SELECT nonce FROM setup_nonce WHERE NOT EXISTS (SELECT 1 FROM people WHERE is_administrator = 1)
            """
        ) { columns in
            columns.record = "setup link"
            guard let nonce = SetupNonce(stored: try columns.bytes()) else { throw columns.damage() }
            return nonce
        }
    }
}
