extension Tables {
    /// A queue of back-channel logout deliveries for each client, so that a slow host delays no other client.
    static let logout = """
        CREATE TABLE logout_deliveries (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            -- The identifier of the client in `clients` or in `client_removals`.
            client_id TEXT NOT NULL,
            person_id TEXT,
            -- The encrypted identifier of a deleted user.
            sealed_person_id BLOB,
            session_id TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL DEFAULT 0,
            CHECK ((person_id IS NULL) <> (sealed_person_id IS NULL))
        ) STRICT;
        CREATE INDEX logout_deliveries_client ON logout_deliveries (client_id, due_at, number);
        CREATE INDEX logout_deliveries_person ON logout_deliveries (person_id) WHERE person_id IS NOT NULL;

        CREATE TABLE logout_queues (
            client_id TEXT NOT NULL PRIMARY KEY REFERENCES clients (id) ON DELETE CASCADE,
            due_at INTEGER NOT NULL,
            leased_until INTEGER,
            host_failures INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX logout_queues_due ON logout_queues (due_at);
        CREATE INDEX logout_queues_leased ON logout_queues (leased_until) WHERE leased_until IS NOT NULL;

        CREATE TRIGGER logout_deliveries_are_queued AFTER INSERT ON logout_deliveries BEGIN
            UPDATE logout_deliveries SET created_at = due_at WHERE number = NEW.number;
            INSERT INTO logout_queues (client_id, due_at, leased_until, host_failures)
            VALUES (NEW.client_id, NEW.due_at, NULL, 0)
            -- A client that is paused, or has a delivery in flight, gets its next delivery afterwards.
            ON CONFLICT (client_id) DO UPDATE SET due_at = min(due_at, excluded.due_at)
                WHERE leased_until IS NULL AND host_failures = 0;
        END;
        """

    /// The heartbeat of the server with its clock, and the earlier outages of the store.
    static let operation = """
        CREATE TABLE service (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            answered_at INTEGER NOT NULL,
            -- The clock of the running server; NULL until a server has run, and on systems that do not identify their
            -- boots.
            boot TEXT,
            boot_clock INTEGER,
            clock_origin INTEGER
        ) STRICT;

        CREATE TABLE outages (
            began_at INTEGER NOT NULL PRIMARY KEY,
            ended_at INTEGER NOT NULL
        ) STRICT;
        """
}
