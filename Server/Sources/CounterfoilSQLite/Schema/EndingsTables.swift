extension Tables {
    /// The record of everything that ended access, from which a server writes its endings journal.
    static let endings = """
        -- The position in the sequence of the endings.
        CREATE TABLE endings_record (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            identity TEXT NOT NULL,
            -- The identity before the last restore, if this sequence continues that one.
            former TEXT,
            first_number INTEGER NOT NULL,
            last_number INTEGER NOT NULL CHECK (last_number >= first_number),
            -- The number of the last ending when a restore began that is not finished.
            restoring_from INTEGER
        ) STRICT;
        INSERT INTO endings_record (id, identity, first_number, last_number)
            VALUES (1, lower(hex(randomblob(16))), 0, 0);

        CREATE TABLE endings (
            number INTEGER NOT NULL PRIMARY KEY,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            detail TEXT
        ) STRICT;
        CREATE INDEX endings_time ON endings (at);

        -- Holds a row only within the transaction that deletes what has expired.
        CREATE TABLE expired_removal (expired_before INTEGER, unseen_since INTEGER) STRICT;
        """
}
