extension Tables {
    /// The audit log, from which only the oldest events can be deleted, and its seals: a chain of all events, which a
    /// server authenticates with its key.
    ///
    /// A transaction that deletes events first inserts the position of the last event to delete into `audit_removal`.
    static let audit = """
        CREATE TABLE audit (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            outcome TEXT NOT NULL,
            person_id TEXT,
            client_id TEXT,
            grant_id TEXT,
            source TEXT,
            request_id TEXT,
            detail TEXT
        ) STRICT;
        CREATE INDEX audit_time ON audit (at, number);
        CREATE INDEX audit_person ON audit (person_id, at, number) WHERE person_id IS NOT NULL;
        CREATE INDEX audit_client ON audit (client_id, at, number) WHERE client_id IS NOT NULL;
        CREATE INDEX audit_kind ON audit (kind, at, number);

        -- Holds a row only within the transaction of a deletion.
        CREATE TABLE audit_removal (through_at INTEGER NOT NULL, through_number INTEGER NOT NULL) STRICT;

        -- The only change of an event: the pseudonym replaces a deleted user, and names of the user go.
        CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
            WHEN NOT (
                NEW.number = OLD.number AND NEW.at = OLD.at AND NEW.kind = OLD.kind
                AND NEW.outcome = OLD.outcome AND NEW.client_id IS OLD.client_id
                AND NEW.grant_id IS NULL AND NEW.request_id IS NULL
                AND NEW.source IS NULL AND (NEW.detail IS NULL OR NEW.detail IS OLD.detail)
                AND EXISTS (
                    SELECT 1 FROM removed_people
                    WHERE removed_people.id = OLD.person_id AND removed_people.pseudonym = NEW.person_id
                )
            )
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
        CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
            WHEN NOT EXISTS (
                SELECT 1 FROM audit_removal
                WHERE (OLD.at, OLD.number) <= (audit_removal.through_at, audit_removal.through_number)
            )
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

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
        -- Without the salts, what was removed cannot be found by trying.
        CREATE TRIGGER audit_forgets_salts AFTER UPDATE ON audit BEGIN
            UPDATE audit_seals SET person_salt = NULL,
                detail_salt = CASE WHEN NEW.detail IS NULL THEN NULL ELSE detail_salt END
            WHERE entry = NEW.number;
        END;

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
        """
}
