import GRDB

extension Migration {
    /// Telling by one number whether what is known of applications, their secrets and APIs is still so.
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
        // Whoever changes them, and by whatever statement, makes another number, which no older copy of the file ever had.
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
