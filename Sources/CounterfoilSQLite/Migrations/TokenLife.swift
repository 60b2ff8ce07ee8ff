import CounterfoilServer
import GRDB

extension Migration {
    /// Refresh tokens, APIs, client logout, user profiles, signing key rotation, the audit log, and indexes
    /// of expired records.
    static let tokenLife = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE grants ADD COLUMN resources TEXT NOT NULL DEFAULT '';
                ALTER TABLE grants ADD COLUMN id_token_claims TEXT NOT NULL DEFAULT '';
                ALTER TABLE grants ADD COLUMN user_info_claims TEXT NOT NULL DEFAULT '';
                ALTER TABLE grants ADD COLUMN session_id TEXT;
                ALTER TABLE grants ADD COLUMN authenticated_at INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE grants ADD COLUMN has_refresh_tokens INTEGER NOT NULL DEFAULT 0
                    CHECK (has_refresh_tokens IN (0, 1));
                UPDATE grants SET authenticated_at = created_at;

                CREATE INDEX grants_session ON grants (session_id) WHERE session_id IS NOT NULL AND revoked_at IS NULL;
                CREATE INDEX grants_revoked ON grants (revoked_at) WHERE revoked_at IS NOT NULL;
                -- A grant with refresh tokens ends after them, and is not looked for while it has some.
                CREATE INDEX grants_last_used ON grants (last_used_at) WHERE has_refresh_tokens = 0;
                CREATE INDEX codes_expires ON codes (expires_at);

                ALTER TABLE sessions ADD COLUMN id TEXT NOT NULL DEFAULT '';
                UPDATE sessions SET id = 'ses_' || lower(hex(randomblob(16)));

                CREATE TABLE refresh_tokens (
                    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                    grant_id TEXT NOT NULL UNIQUE REFERENCES grants (id),
                    generation INTEGER NOT NULL CHECK (generation >= 0),
                    rotated_at INTEGER NOT NULL,
                    repeats INTEGER NOT NULL CHECK (repeats >= 0),
                    last_used_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE INDEX refresh_tokens_last_used ON refresh_tokens (last_used_at);
                CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at);

                CREATE TABLE refresh_statistics (
                    client_id TEXT NOT NULL PRIMARY KEY REFERENCES clients (id),
                    repeats INTEGER NOT NULL,
                    reuses INTEGER NOT NULL,
                    last_reuse_at INTEGER,
                    revocations INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE resources (
                    resource TEXT NOT NULL PRIMARY KEY,
                    client_id TEXT NOT NULL UNIQUE,
                    name TEXT NOT NULL,
                    scope TEXT NOT NULL,
                    secret BLOB NOT NULL CHECK (length(secret) = 32),
                    created_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                ALTER TABLE clients ADD COLUMN post_logout_redirect_uris TEXT NOT NULL DEFAULT '';
                ALTER TABLE clients ADD COLUMN backchannel_logout_uri TEXT;
                ALTER TABLE clients ADD COLUMN keys BLOB;
                ALTER TABLE clients ADD COLUMN rotates_refresh_tokens INTEGER
                    CHECK (rotates_refresh_tokens IN (0, 1));
                ALTER TABLE clients ADD COLUMN refresh_grace_period INTEGER;
                ALTER TABLE clients ADD COLUMN refresh_idle_lifetime INTEGER;
                ALTER TABLE clients ADD COLUMN refresh_lifetime INTEGER;
                ALTER TABLE clients ADD COLUMN subject_type TEXT NOT NULL DEFAULT 'public';

                CREATE INDEX clients_origins ON clients (origins) WHERE origins <> '';

                CREATE TABLE logout_deliveries (
                    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
                    client_id TEXT NOT NULL REFERENCES clients (id),
                    person_id TEXT NOT NULL REFERENCES people (id),
                    session_id TEXT NOT NULL,
                    attempts INTEGER NOT NULL,
                    due_at INTEGER NOT NULL
                ) STRICT;

                CREATE INDEX logout_deliveries_due ON logout_deliveries (due_at);

                ALTER TABLE people ADD COLUMN profile TEXT NOT NULL DEFAULT '{}';
                ALTER TABLE people ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
                UPDATE people SET changed_at = created_at;

                ALTER TABLE signing_keys ADD COLUMN signs_from INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE signing_keys ADD COLUMN replaced_at INTEGER;
                UPDATE signing_keys SET signs_from = created_at;

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

                CREATE INDEX audit_person ON audit (person_id, number) WHERE person_id IS NOT NULL;
                CREATE INDEX audit_client ON audit (client_id, number) WHERE client_id IS NOT NULL;
                -- Nothing in the log is ever changed.
                CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
                CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

                CREATE TABLE assertions (
                    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                    expires_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE INDEX assertions_expires ON assertions (expires_at);
                """
        )
    }
}
