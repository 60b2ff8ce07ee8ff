import GRDB

extension Migration {
    /// Adds the setting whether ID tokens contain the claims of the scopes `profile` and `email`.
    ///
    /// The ID tokens of clients that exist already stay as they are.
    static let userClaimsInIDTokens = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE clients ADD COLUMN puts_user_claims_in_id_token INTEGER NOT NULL DEFAULT 0
                """)
    }
}
