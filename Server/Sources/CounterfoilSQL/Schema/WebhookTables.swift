extension StoreSchema {
    /// The webhooks, their progress in the audit log, and their last deliveries.
    static let webhooks = """
        CREATE TABLE webhooks (
            id TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            url TEXT NOT NULL,
            label TEXT NOT NULL,
            -- The names of the event types; empty for all but the refusals that strangers can cause without limit.
            types TEXT NOT NULL,
            -- The secrets, encrypted with the server key.
            secret BLOB NOT NULL,
            former_secret BLOB,
            former_secret_until INTEGER,
            state TEXT COLLATE BINARY NOT NULL,
            created_at INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            -- The number of the seal of the last event that was sent, or is not to be sent.
            sent_through INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            failing_since INTEGER,
            due_at INTEGER NOT NULL,
            missed_through INTEGER,
            -- The server that sends, until its lease ends.
            holder BLOB CHECK (length(holder) = 16),
            leased_until INTEGER,
            CHECK ((former_secret IS NULL) = (former_secret_until IS NULL))
        ) STRICT, WITHOUT ROWID;

        -- Events that are to be sent again.
        CREATE TABLE webhook_resends (
            webhook_id TEXT COLLATE BINARY NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
            seal INTEGER NOT NULL,
            PRIMARY KEY (webhook_id, seal)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE webhook_deliveries (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            webhook_id TEXT COLLATE BINARY NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
            seal INTEGER NOT NULL,
            event_id TEXT NOT NULL,
            type TEXT NOT NULL,
            at INTEGER NOT NULL,
            milliseconds INTEGER NOT NULL,
            status INTEGER,
            failure TEXT,
            is_resend INTEGER NOT NULL CHECK (is_resend IN (0, 1))
        ) STRICT;

        -- The encrypted identifiers of deleted users, while receivers learn of the deletion.
        CREATE TABLE removed_subjects (
            pseudonym TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            sealed BLOB NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX removed_subjects_expiry ON removed_subjects (expires_at);
        CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, number);
        """
}
