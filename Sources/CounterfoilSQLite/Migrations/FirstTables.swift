import CounterfoilProtocol
import CounterfoilServer
import GRDB

extension Migration {
    /// Scopes, clients, users, sessions, grants, codes and signing keys.
    ///
    /// Times are microseconds since 1970. Secrets are stored only as digests, passwords as hashes, and
    /// signing keys sealed.
    static let firstTables = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE scopes (
                    name TEXT NOT NULL PRIMARY KEY,
                    description TEXT NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE clients (
                    id TEXT NOT NULL PRIMARY KEY,
                    type TEXT NOT NULL,
                    name TEXT NOT NULL,
                    publisher TEXT,
                    redirect_uris TEXT NOT NULL,
                    scope TEXT NOT NULL,
                    is_first_party INTEGER NOT NULL CHECK (is_first_party IN (0, 1)),
                    requires_state INTEGER NOT NULL CHECK (requires_state IN (0, 1)),
                    id_token_algorithm TEXT NOT NULL,
                    created_at INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE people (
                    id TEXT NOT NULL PRIMARY KEY,
                    username TEXT NOT NULL UNIQUE,
                    email TEXT UNIQUE,
                    display_name TEXT NOT NULL,
                    password_hash TEXT NOT NULL,
                    is_administrator INTEGER NOT NULL CHECK (is_administrator IN (0, 1)),
                    created_at INTEGER NOT NULL,
                    disabled_at INTEGER
                ) STRICT;

                CREATE INDEX people_administrators ON people (is_administrator) WHERE is_administrator = 1;

                CREATE TABLE sessions (
                    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                    person_id TEXT NOT NULL REFERENCES people (id),
                    authenticated_at INTEGER NOT NULL,
                    last_seen_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE grants (
                    id TEXT NOT NULL PRIMARY KEY,
                    person_id TEXT NOT NULL REFERENCES people (id),
                    client_id TEXT NOT NULL REFERENCES clients (id),
                    scope TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    last_used_at INTEGER NOT NULL,
                    revoked_at INTEGER
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE codes (
                    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                    interaction BLOB NOT NULL UNIQUE CHECK (length(interaction) = 32),
                    grant_id TEXT NOT NULL REFERENCES grants (id),
                    redirect_uri TEXT NOT NULL,
                    redirect_uri_was_given INTEGER NOT NULL CHECK (redirect_uri_was_given IN (0, 1)),
                    code_challenge TEXT,
                    code_challenge_method TEXT CHECK (code_challenge_method = 'S256'),
                    nonce BLOB,
                    authenticated_at INTEGER NOT NULL,
                    issued_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,
                    used_at INTEGER,
                    failed_redemptions INTEGER NOT NULL CHECK (failed_redemptions >= 0),
                    CHECK ((code_challenge IS NULL) = (code_challenge_method IS NULL))
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE signing_keys (
                    id TEXT NOT NULL PRIMARY KEY,
                    algorithm TEXT NOT NULL,
                    sealed BLOB NOT NULL,
                    created_at INTEGER NOT NULL
                ) STRICT;
                """
        )
        for scope in ScopeDefinition.standard {
            try database.run(
                "INSERT INTO scopes (name, description) VALUES (?, ?)",
                scope.token.rawValue,
                scope.description
            )
        }
    }
}
