import GRDB

extension Migration {
    /// Adds the type of their access tokens to the APIs.
    static let tokenTypes = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE resources ADD COLUMN
                    token_type TEXT NOT NULL DEFAULT 'at+jwt' CHECK (token_type IN ('at+jwt', 'jwt'))
                """)
    }
}
