import GRDB

extension Migration {
    /// The scopes that were allowed only for claims requested by name; existing grants have none.
    static let claimScopes = Migration { database in
        try database.execute(sql: "ALTER TABLE grants ADD COLUMN claim_scope TEXT NOT NULL DEFAULT ''")
    }
}
