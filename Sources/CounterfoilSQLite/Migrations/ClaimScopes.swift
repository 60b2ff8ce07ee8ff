import GRDB

extension Migration {
    /// The scopes that were allowed for claims by name alone; until now there were none.
    static let claimScopes = Migration { database in
        try database.execute(sql: "ALTER TABLE grants ADD COLUMN claim_scope TEXT NOT NULL DEFAULT ''")
    }
}
