import GRDB

extension Migration {
    /// One number that tells whether cached APIs are stale; a change of a client or a client secret renews it as well.
    static let registryVersion = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE registry (
                    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                    version INTEGER NOT NULL
                ) STRICT;
                INSERT INTO registry (id, version) VALUES (1, random());
                """
        )
        // Each change, in whatever process and by whatever statement, sets a new number, which no older copy
        // of the file had.
        for table in ["clients", "client_secrets", "resources"] {
            for change in ["INSERT", "UPDATE", "DELETE"] {
                try database.execute(
                    sql: """
                        CREATE TRIGGER \(table)_\(change.lowercased())_renews AFTER \(change) ON \(table)
                        BEGIN UPDATE registry SET version = random(); END;
                        """
                )
            }
        }
    }
}
