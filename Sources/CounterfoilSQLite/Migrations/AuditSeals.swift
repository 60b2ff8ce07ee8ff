import GRDB

extension Migration {
    /// Adds the seals of the audit log: a chain of all events, which a server authenticates with its key.
    static let auditSeals = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE audit_seals (
                    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
                    -- The time and the number of the event.
                    at INTEGER NOT NULL,
                    entry INTEGER NOT NULL UNIQUE,
                    digest BLOB NOT NULL,
                    -- The digests of what the deletion of a user removes, and their salts until then.
                    person BLOB NOT NULL,
                    person_salt BLOB,
                    detail BLOB NOT NULL,
                    detail_salt BLOB,
                    -- A code of the pseudonym of the user.
                    pseudonym BLOB,
                    chain BLOB NOT NULL,
                    code BLOB NOT NULL
                ) STRICT;

                -- The end of the chain.
                CREATE TABLE audit_head (
                    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                    seal INTEGER NOT NULL,
                    chain BLOB NOT NULL,
                    sealed_at INTEGER NOT NULL,
                    checked_at INTEGER,
                    code BLOB NOT NULL
                ) STRICT;

                -- The beginning of the chain, after the last deletion of old events.
                CREATE TABLE audit_start (
                    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                    seal INTEGER NOT NULL,
                    chain BLOB NOT NULL,
                    through_at INTEGER NOT NULL,
                    through_number INTEGER NOT NULL,
                    code BLOB NOT NULL
                ) STRICT;

                -- Without the salts, what was removed cannot be found by trying.
                CREATE TRIGGER audit_forgets_salts AFTER UPDATE ON audit BEGIN
                    UPDATE audit_seals SET person_salt = NULL,
                        detail_salt = CASE WHEN NEW.detail IS NULL THEN NULL ELSE detail_salt END
                    WHERE entry = NEW.number;
                END;
                """)
    }
}
