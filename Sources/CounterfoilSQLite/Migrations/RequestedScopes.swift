import GRDB

extension Migration {
    /// The `scope` of the authorization request beside each code, because a token request may repeat it.
    ///
    /// A code that is there already gets none: its token request may name what was granted.
    static let requestedScopes = Migration { database in
        try database.execute(sql: "ALTER TABLE codes ADD COLUMN requested_scope TEXT NOT NULL DEFAULT ''")
    }
}
