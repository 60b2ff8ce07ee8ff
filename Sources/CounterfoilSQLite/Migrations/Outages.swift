import GRDB

extension Migration {
    /// The last time at which a server recorded that the store answered, and the outages before it.
    static let outages = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE service (
                    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                    answered_at INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE outages (
                    began_at INTEGER NOT NULL PRIMARY KEY,
                    ended_at INTEGER NOT NULL
                ) STRICT;
                """
        )
    }
}
