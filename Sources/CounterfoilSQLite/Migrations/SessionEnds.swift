import GRDB

extension Migration {
    /// Marking a grant with the end of its session, so that its client is notified of that once, and finding grants that are not
    /// marked.
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
