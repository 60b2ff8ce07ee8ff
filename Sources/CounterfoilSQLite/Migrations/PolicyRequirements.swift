import GRDB

extension Migration {
    /// Adds what a client and an API can require: pushed authorization requests, and bound access tokens.
    static let policyRequirements = Migration { database in
        for (table, requirement) in [
            ("clients", "requires_pushed_requests"), ("clients", "requires_bound_tokens"),
            ("resources", "requires_bound_tokens"),
        ] {
            try database.execute(
                sql: """
                    ALTER TABLE \(table) ADD COLUMN
                        \(requirement) INTEGER NOT NULL DEFAULT 0 CHECK (\(requirement) IN (0, 1))
                    """)
        }
    }
}
