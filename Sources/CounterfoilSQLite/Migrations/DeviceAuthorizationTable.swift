import GRDB

extension Migration {
    /// Adds the device authorizations that no user has approved yet (RFC 8628).
    ///
    /// An approval replaces a row by one in `codes` with the same digest.
    static let deviceAuthorizations = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE device_authorizations (
                    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                    user_code BLOB NOT NULL UNIQUE CHECK (length(user_code) = 32),
                    client_id TEXT NOT NULL REFERENCES clients (id),
                    scope TEXT NOT NULL,
                    resources TEXT NOT NULL,
                    -- Always an S256 challenge.
                    code_challenge TEXT,
                    requested_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,
                    source TEXT NOT NULL,
                    user_agent TEXT NOT NULL,
                    poll_interval INTEGER NOT NULL CHECK (poll_interval > 0),
                    last_polled_at INTEGER,
                    denied_at INTEGER
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX device_authorizations_client ON device_authorizations (client_id);
                CREATE INDEX device_authorizations_source ON device_authorizations (source, expires_at);
                CREATE INDEX device_authorizations_expires ON device_authorizations (expires_at);
                """)
    }
}
