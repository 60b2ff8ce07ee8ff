extension StoreSchema {
    /// A queue of back-channel logout deliveries for each client, so that a slow host delays no other client.
    static let logout = """
        CREATE TABLE logout_deliveries (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            -- The identifier of the client in `clients` or in `client_removals`.
            client_id TEXT COLLATE BINARY NOT NULL,
            person_id TEXT COLLATE BINARY,
            -- The encrypted identifier of a deleted user.
            sealed_person_id BLOB,
            session_id TEXT COLLATE BINARY NOT NULL,
            attempts INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL DEFAULT 0,
            CHECK ((person_id IS NULL) <> (sealed_person_id IS NULL))
        ) STRICT;
        CREATE INDEX logout_deliveries_client ON logout_deliveries (client_id, due_at, number);
        CREATE INDEX logout_deliveries_person ON logout_deliveries (person_id) WHERE person_id IS NOT NULL;

        CREATE TABLE logout_queues (
            client_id TEXT COLLATE BINARY NOT NULL PRIMARY KEY REFERENCES clients (id) ON DELETE CASCADE,
            due_at INTEGER NOT NULL,
            leased_until INTEGER,
            host_failures INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX logout_queues_due ON logout_queues (due_at);
        CREATE INDEX logout_queues_leased ON logout_queues (leased_until) WHERE leased_until IS NOT NULL;
        """

    /// The queue of mails, and the links in them.
    static let mails = """
        CREATE TABLE mails (
            id TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            -- Of a mail to a person without an account, it is NULL.
            person_id TEXT COLLATE BINARY REFERENCES people (id) ON DELETE CASCADE,
            -- The kind, the address, the language and the link, encrypted with the server key.
            sealed BLOB NOT NULL,
            attempts INTEGER NOT NULL,
            -- The time of the next attempt, or of the end of the lease of the server that sends the mail.
            due_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX mails_due ON mails (due_at, id);
        CREATE INDEX mails_created ON mails (created_at);
        CREATE INDEX mails_person ON mails (person_id);
        CREATE INDEX mails_expiry ON mails (expires_at);

        -- The newest link by which a user verifies an address or changes it.
        CREATE TABLE email_verifications (
            person_id TEXT COLLATE BINARY NOT NULL PRIMARY KEY REFERENCES people (id) ON DELETE CASCADE,
            digest BLOB NOT NULL CHECK (length(digest) = 32),
            email TEXT COLLATE BINARY NOT NULL,
            -- The address that the user has until then.
            former_email TEXT COLLATE BINARY,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX email_verifications_expiry ON email_verifications (expires_at);

        -- Links by which users set a new password: the newest one of an operator, and that of each browser.
        CREATE TABLE user_links (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id) ON DELETE CASCADE,
            origin TEXT COLLATE BINARY NOT NULL CHECK (origin IN ('operator', 'mail')),
            -- The next three are of a link in a mail: its address, the digest of the token of the browser that asked for
            -- it, and the path and query at which the sign-in continues.
            email TEXT COLLATE BINARY,
            browser BLOB CHECK (length(browser) = 32),
            destination TEXT,
            expires_at INTEGER NOT NULL,
            UNIQUE (person_id, origin, browser)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX user_links_expiry ON user_links (expires_at);
        """

    /// The links with which persons create their own accounts.
    static let signUps = """
        -- Invitations that are not used.
        CREATE TABLE invitations (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            email TEXT COLLATE BINARY,
            -- Whether the link was sent to the address.
            is_mailed INTEGER NOT NULL CHECK (is_mailed IN (0, 1)),
            role TEXT COLLATE BINARY CHECK (role <> ''),
            client_id TEXT COLLATE BINARY,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX invitations_email ON invitations (email);
        CREATE INDEX invitations_expires ON invitations (expires_at);

        -- Links that were sent to the addresses of persons who asked for an account.
        CREATE TABLE sign_ups (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            email TEXT COLLATE BINARY NOT NULL,
            -- The digest of the cookie of the browser that asked.
            browser BLOB NOT NULL CHECK (length(browser) = 32),
            pending_request TEXT NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sign_ups_email ON sign_ups (email);
        CREATE INDEX sign_ups_expires ON sign_ups (expires_at);
        """

    /// The answers to requests that clients of the administration API can repeat.
    static let keptAnswers = """
        CREATE TABLE kept_answers (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            content BLOB NOT NULL CHECK (length(content) = 32),
            client_id TEXT COLLATE BINARY NOT NULL,
            -- Encrypted with the server key; NULL while the request is carried out, and if its outcome is not known.
            answer BLOB,
            -- The user whom the answer is about.
            person_id TEXT COLLATE BINARY REFERENCES people (id) ON DELETE CASCADE,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX kept_answers_client ON kept_answers (client_id, expires_at);
        CREATE INDEX kept_answers_person ON kept_answers (person_id);
        CREATE INDEX kept_answers_expiry ON kept_answers (expires_at);
        """

    /// The earlier outages of the store, and the numbers of events for charts.
    static let operation = """
        CREATE TABLE outages (
            began_at INTEGER NOT NULL PRIMARY KEY,
            ended_at INTEGER NOT NULL
        ) STRICT;

        -- How often an event happened in an hour. The slots are for several servers on one database.
        CREATE TABLE activity_counts (
            -- The beginning of the hour.
            hour INTEGER NOT NULL,
            kind TEXT COLLATE BINARY NOT NULL,
            slot INTEGER NOT NULL,
            count INTEGER NOT NULL CHECK (count > 0),
            PRIMARY KEY (hour, kind, slot)
        ) STRICT, WITHOUT ROWID;
        """

    /// The tables of what several servers count and decide together: failed attempts, the networks whose attempts count
    /// apart, the link for the first owner, the lease of the maintenance, and the keys of pairwise identifiers.
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

        -- Networks from which users have signed in, by a digest of both.
        CREATE TABLE earlier_networks (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id) ON DELETE CASCADE,
            noted_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX earlier_networks_person ON earlier_networks (person_id, noted_at);
        CREATE INDEX earlier_networks_time ON earlier_networks (noted_at);

        -- The number of the link for the first owner.
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

    /// The record of everything that ended access, from which a server writes its endings journal.
    static let endings = """
        -- The position in the sequence of the endings.
        CREATE TABLE endings_record (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            identity TEXT COLLATE BINARY NOT NULL,
            -- The identity before the last restore, if this sequence continues that one.
            former TEXT COLLATE BINARY,
            first_number INTEGER NOT NULL,
            last_number INTEGER NOT NULL CHECK (last_number >= first_number),
            -- The number of the last ending when a restore began that is not finished.
            restoring_from INTEGER
        ) STRICT;

        CREATE TABLE endings (
            number INTEGER NOT NULL PRIMARY KEY,
            at INTEGER NOT NULL,
            kind TEXT COLLATE BINARY NOT NULL,
            subject TEXT COLLATE BINARY NOT NULL,
            detail TEXT
        ) STRICT;
        CREATE INDEX endings_time ON endings (at);

        -- Holds a row only within the transaction that deletes what has expired.
        CREATE TABLE expired_removal (expired_before INTEGER, unseen_since INTEGER) STRICT;
        """
}
