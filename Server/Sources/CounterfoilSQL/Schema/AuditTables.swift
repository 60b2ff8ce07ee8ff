extension StoreSchema {
    /// The audit log, from which only the oldest events can be deleted, and its seals: a chain of all events, which a
    /// server authenticates with its key.
    ///
    /// A transaction that deletes events first inserts the position of the last event to delete into `audit_removal`.
    static let audit = """
        CREATE TABLE audit (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            kind TEXT COLLATE BINARY NOT NULL,
            outcome TEXT NOT NULL,
            person_id TEXT COLLATE BINARY,
            client_id TEXT COLLATE BINARY,
            grant_id TEXT,
            source TEXT COLLATE BINARY,
            request_id TEXT COLLATE BINARY,
            detail TEXT,
            action TEXT COLLATE BINARY
        ) STRICT;
        CREATE INDEX audit_time ON audit (at, number);
        CREATE INDEX audit_person ON audit (person_id, at, number) WHERE person_id IS NOT NULL;
        CREATE INDEX audit_client ON audit (client_id, at, number) WHERE client_id IS NOT NULL;
        CREATE INDEX audit_kind ON audit (kind, at, number);
        CREATE INDEX audit_source ON audit (source, at, number) WHERE source IS NOT NULL;
        CREATE INDEX audit_request ON audit (request_id, at, number) WHERE request_id IS NOT NULL;
        CREATE INDEX audit_refused ON audit (at, number) WHERE outcome = 'refused';

        -- Holds a row only within the transaction of a deletion.
        CREATE TABLE audit_removal (through_at INTEGER NOT NULL, through_number INTEGER NOT NULL) STRICT;

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
        """
}
