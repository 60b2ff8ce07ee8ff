import GRDB

extension Migration {
    /// A queue of back-channel logout deliveries for each client, so that a slow host delays no other client.
    static let logoutQueues = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE logout_deliveries ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
                UPDATE logout_deliveries SET created_at = due_at;
                DROP INDEX logout_deliveries_due;
                CREATE INDEX logout_deliveries_client ON logout_deliveries (client_id, due_at, number);

                CREATE TABLE logout_queues (
                    client_id TEXT NOT NULL PRIMARY KEY REFERENCES clients (id) ON DELETE CASCADE,
                    due_at INTEGER NOT NULL,
                    leased_until INTEGER,
                    host_failures INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE INDEX logout_queues_due ON logout_queues (due_at);
                CREATE INDEX logout_queues_leased ON logout_queues (leased_until) WHERE leased_until IS NOT NULL;
                INSERT INTO logout_queues (client_id, due_at, leased_until, host_failures)
                SELECT client_id, min(due_at), NULL, 0 FROM logout_deliveries GROUP BY client_id;

                CREATE TRIGGER logout_deliveries_are_queued AFTER INSERT ON logout_deliveries BEGIN
                    UPDATE logout_deliveries SET created_at = due_at WHERE number = NEW.number;
                    INSERT INTO logout_queues (client_id, due_at, leased_until, host_failures)
                    VALUES (NEW.client_id, NEW.due_at, NULL, 0)
                    -- A client that is paused, or has a delivery in flight, looks for its next one by itself.
                    ON CONFLICT (client_id) DO UPDATE SET due_at = min(due_at, excluded.due_at)
                        WHERE leased_until IS NULL AND host_failures = 0;
                END;
                """
        )
    }
}
