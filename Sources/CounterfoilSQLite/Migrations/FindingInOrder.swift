import GRDB

extension Migration {
    /// Finding sessions by their names and those that are over, and what the log says of one kind, without reading everything.
    static let findingInOrder = Migration { database in
        try database.execute(
            sql: """
                CREATE INDEX sessions_id ON sessions (id);
                CREATE INDEX sessions_expires ON sessions (expires_at);
                CREATE INDEX sessions_last_seen ON sessions (last_seen_at);
                CREATE INDEX audit_kind ON audit (kind, number);
                """
        )
    }
}
