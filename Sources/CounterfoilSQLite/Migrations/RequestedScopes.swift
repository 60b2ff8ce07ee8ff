import GRDB

extension Migration {
    /// The `scope` of the authorization request for each code, because a token request may repeat it.
    ///
    /// An existing code gets an empty one: its token request may name the granted scope.
    static let requestedScopes = Migration { database in
        try database.execute(sql: "ALTER TABLE codes ADD COLUMN requested_scope TEXT NOT NULL DEFAULT ''")
    }
}
