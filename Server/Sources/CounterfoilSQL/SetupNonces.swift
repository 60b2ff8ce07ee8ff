public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Stores the number of the link for the first owner, unless a later one than `limit` exists, or an owner.
    public func renewSetupNonce(
        _ nonce: SetupNonce, unlessStoredAfter limit: Date, at now: Date
    ) async throws(StoreFault) -> SetupNonce? {
        try await commit { database in
            guard try database.answers(Self.hasOwner) == [false] else { return nil }
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

    /// Reads the number of the link for the first owner; nil if there is none, or if there is an owner.
    public func setupNonce() async throws(StoreFault) -> SetupNonce? {
        try await read { database in try database.setupNonce() }
    }

    static var hasOwner: String { "SELECT EXISTS (SELECT 1 FROM people WHERE role = 'owner')" }
}

extension SQLConnection {
    fileprivate func setupNonce() throws -> SetupNonce? {
        try first(
            """
            SELECT nonce FROM setup_nonce WHERE NOT EXISTS (SELECT 1 FROM people WHERE role = 'owner')
            """
        ) { columns in
            columns.record = "setup link"
            guard let nonce = SetupNonce(stored: try columns.bytes()) else { throw columns.damage() }
            return nonce
        }
    }
}
