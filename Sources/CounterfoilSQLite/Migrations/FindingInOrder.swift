import GRDB

extension Migration {
    /// Indexes for sessions by identifier, for expired and idle sessions, and for audit events of one kind.
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
