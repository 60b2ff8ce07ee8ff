import CounterfoilProtocol
import CounterfoilServer
import GRDB

extension Migration {
    /// Adds the table of the pushed authorization requests.
    static let pushedRequests = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE pushed_requests (
                    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                    client_id TEXT NOT NULL REFERENCES clients (id),
                    -- The parameters as a query, without the credentials of the client.
                    parameters TEXT NOT NULL,
                    source TEXT,
                    pushed_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,
                    opened_at INTEGER
                ) STRICT;
                CREATE INDEX pushed_requests_client ON pushed_requests (client_id, expires_at);
                CREATE INDEX pushed_requests_source ON pushed_requests (client_id, source, expires_at);
                CREATE INDEX pushed_requests_expires ON pushed_requests (expires_at);
                """)
    }
}
