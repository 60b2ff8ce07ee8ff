import GRDB

extension Migration {
    /// A mark on each grant for the end of its session, so that a client is notified once, and an index of
    /// grants without it.
    static let sessionEnds = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE grants ADD COLUMN session_ended_at INTEGER;
                DROP INDEX grants_session;
                CREATE INDEX grants_session ON grants (session_id)
                    WHERE session_id IS NOT NULL AND revoked_at IS NULL AND session_ended_at IS NULL;
                """
        )
    }
}
