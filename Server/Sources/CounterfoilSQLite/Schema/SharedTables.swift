extension Tables {
    /// The tables of what several servers count and decide together: failed attempts, the link for the first
    /// administrator, the lease of the maintenance, and the keys of pairwise identifiers.
    ///
    /// Only one server runs on a file, but the tables are those of every store. Used DPoP proofs are in its memory.
    static let shared = """
        -- Failed attempts to prove a secret, by a digest of what they have in common.
        CREATE TABLE attempts (
            number INTEGER PRIMARY KEY,
            digest BLOB NOT NULL CHECK (length(digest) = 32),
            at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX attempts_digest ON attempts (digest, at);
        CREATE INDEX attempts_expiry ON attempts (expires_at);

        -- The number of the link for the first administrator.
        CREATE TABLE setup_nonce (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            nonce BLOB NOT NULL CHECK (length(nonce) = 16),
            created_at INTEGER NOT NULL
        ) STRICT;

        -- The server that deletes expired records, until its lease ends.
        CREATE TABLE maintenance_lease (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            holder BLOB NOT NULL CHECK (length(holder) = 16),
            expires_at INTEGER NOT NULL
        ) STRICT;

        -- The keys of pairwise identifiers, encrypted with the server key.
        CREATE TABLE identifier_keys (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            sealed BLOB NOT NULL
        ) STRICT;
        """
}
