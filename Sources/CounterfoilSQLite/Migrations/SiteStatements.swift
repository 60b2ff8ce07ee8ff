import GRDB

extension Migration {
    /// The statements of the service on the consent page, by language.
    static let siteStatements = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE site_statements (
                    language TEXT NOT NULL PRIMARY KEY,
                    text TEXT,
                    privacy_uri TEXT,
                    CHECK (text IS NOT NULL OR privacy_uri IS NOT NULL)
                ) STRICT, WITHOUT ROWID;
                """
        )
    }
}
