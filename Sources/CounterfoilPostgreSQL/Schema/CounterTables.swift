extension Tables {
    /// The rows among which several servers spread the counts of one client.
    ///
    /// They are deleted with the client. A version before these tables counts in the tables without slots.
    static let counters: [String] = statements(
        """
        CREATE TABLE pkce_exceptions_slots (
            client_id text COLLATE "C" NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            slot bigint NOT NULL,
            count bigint NOT NULL CHECK (count > 0),
            last_at bigint NOT NULL,
            PRIMARY KEY (client_id, slot)
        ) WITH (fillfactor = 80)

        CREATE TABLE refresh_statistics_slots (
            client_id text COLLATE "C" NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            slot bigint NOT NULL,
            repeats bigint NOT NULL,
            reuses bigint NOT NULL,
            last_reuse_at bigint,
            revocations bigint NOT NULL,
            PRIMARY KEY (client_id, slot)
        ) WITH (fillfactor = 80)
        """)
}
