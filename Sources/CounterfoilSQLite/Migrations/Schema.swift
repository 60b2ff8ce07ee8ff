import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import GRDB

extension Migration {
    /// The tables, indexes and triggers, and the initial rows of a new store.
    ///
    /// Times are microseconds since 1970. Secrets are stored only as digests, passwords as hashes, and signing
    /// keys sealed. Lists, such as scopes and redirect URIs, are texts delimited by spaces.
    static let schema = Migration { database in
        for tables in [registry, people, grants, signingKeys, logout, audit, operation] {
            try database.execute(sql: tables)
        }
        for table in ["clients", "client_secrets", "resources"] {
            for change in ["INSERT", "UPDATE", "DELETE"] {
                try database.execute(sql: renewal(of: table, after: change))
            }
        }
        for scope in ScopeDefinition.standard {
            try database.connection.send(
                "INSERT INTO scopes (name, description, is_listed) VALUES (?, ?, 1)", scope.token.rawValue,
                scope.description)
        }
    }

    /// Scopes, clients, client secrets, APIs, logos and branding.
    private static let registry = """
        CREATE TABLE scopes (
            name TEXT NOT NULL PRIMARY KEY,
            description TEXT NOT NULL,
            -- Whether the metadata lists the scope.
            is_listed INTEGER NOT NULL DEFAULT 0 CHECK (is_listed IN (0, 1)),
            -- Whether its checkbox on the consent page is selected at first.
            starts_ticked INTEGER NOT NULL DEFAULT 0 CHECK (starts_ticked IN (0, 1))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE logos (
            id TEXT NOT NULL PRIMARY KEY,
            media_type TEXT NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg')),
            bytes BLOB NOT NULL
        ) STRICT;

        CREATE TABLE clients (
            id TEXT NOT NULL PRIMARY KEY,
            type TEXT NOT NULL,
            owner_id TEXT REFERENCES people (id),
            name TEXT NOT NULL,
            publisher TEXT,
            consent_text TEXT,
            privacy_uri TEXT,
            terms_uri TEXT,
            logo TEXT REFERENCES logos (id),
            redirect_uris TEXT NOT NULL,
            post_logout_redirect_uris TEXT NOT NULL,
            backchannel_logout_uri TEXT,
            origins TEXT NOT NULL,
            apple_apps TEXT NOT NULL,
            android_apps TEXT NOT NULL,
            keys BLOB,
            scope TEXT NOT NULL,
            optional_scope TEXT NOT NULL,
            -- The scopes that a service can request without a user.
            machine_scope TEXT NOT NULL,
            is_first_party INTEGER NOT NULL CHECK (is_first_party IN (0, 1)),
            is_vouched_for INTEGER NOT NULL CHECK (is_vouched_for IN (0, 1)),
            is_claimed_https_verified INTEGER NOT NULL CHECK (is_claimed_https_verified IN (0, 1)),
            pkce_policy TEXT NOT NULL,
            requires_state INTEGER NOT NULL CHECK (requires_state IN (0, 1)),
            refresh_tokens TEXT NOT NULL,
            rotates_refresh_tokens INTEGER CHECK (rotates_refresh_tokens IN (0, 1)),
            refresh_grace_period INTEGER,
            refresh_idle_lifetime INTEGER,
            refresh_lifetime INTEGER,
            subject_type TEXT NOT NULL,
            access_token_lifetime INTEGER,
            id_token_lifetime INTEGER,
            id_token_algorithm TEXT NOT NULL,
            web_views TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            revision INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX clients_owner ON clients (owner_id) WHERE owner_id IS NOT NULL;
        CREATE INDEX clients_logo ON clients (logo) WHERE logo IS NOT NULL;
        CREATE INDEX clients_origins ON clients (origins) WHERE origins <> '';

        -- The identifiers of deleted clients, so that no developer registers another client with one of them.
        CREATE TABLE removed_clients (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;

        CREATE TABLE client_secrets (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            client_id TEXT NOT NULL REFERENCES clients (id),
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX client_secrets_client ON client_secrets (client_id);

        -- How often a client was served without S256.
        CREATE TABLE pkce_exceptions (
            client_id TEXT NOT NULL PRIMARY KEY REFERENCES clients (id),
            count INTEGER NOT NULL CHECK (count > 0),
            last_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- APIs.
        CREATE TABLE resources (
            resource TEXT NOT NULL PRIMARY KEY,
            client_id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            scope TEXT NOT NULL,
            secret BLOB NOT NULL CHECK (length(secret) = 32),
            created_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE branding (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            site_name TEXT,
            logo TEXT REFERENCES logos (id),
            accent TEXT,
            support_uri TEXT,
            revision INTEGER NOT NULL
        ) STRICT;
        INSERT INTO branding (id, revision) VALUES (1, 0);

        -- The statements of the service on the consent page, by language.
        CREATE TABLE site_statements (
            language TEXT NOT NULL PRIMARY KEY,
            text TEXT,
            privacy_uri TEXT,
            CHECK (text IS NOT NULL OR privacy_uri IS NOT NULL)
        ) STRICT, WITHOUT ROWID;

        -- A number that triggers renew with each change of a client, a client secret or an API.
        CREATE TABLE registry (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            revision INTEGER NOT NULL
        ) STRICT;
        INSERT INTO registry (id, revision) VALUES (1, random());
        """

    /// Returns a trigger that renews the registry revision after a change of a table, by any process and any
    /// statement.
    ///
    /// The new revision is a random number. With a counter, a restored older copy of the file could reach a revision
    /// for which a process has already cached other records.
    static func renewal(of table: String, after change: String) -> String {
        """
        CREATE TRIGGER \(table)_\(change.lowercased())_renews AFTER \(change) ON \(table)
        BEGIN UPDATE registry SET revision = random(); END;
        """
    }

    /// Users and sessions.
    private static let people = """
        CREATE TABLE people (
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            username TEXT NOT NULL UNIQUE,
            email TEXT UNIQUE,
            display_name TEXT NOT NULL,
            password_hash TEXT NOT NULL,
            is_administrator INTEGER NOT NULL CHECK (is_administrator IN (0, 1)),
            profile TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            disabled_at INTEGER
        ) STRICT;
        CREATE INDEX people_administrators ON people (is_administrator) WHERE is_administrator = 1;

        CREATE TABLE sessions (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            id TEXT NOT NULL,
            person_id TEXT NOT NULL REFERENCES people (id),
            authenticated_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            user_agent TEXT NOT NULL,
            source TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessions_id ON sessions (id);
        CREATE INDEX sessions_person ON sessions (person_id);
        CREATE INDEX sessions_expires ON sessions (expires_at);
        CREATE INDEX sessions_last_seen ON sessions (last_seen_at);
        """

    /// Consents, grants, codes and refresh tokens.
    ///
    /// Refresh tokens reference grants, and grants reference users, by an integer key. SQLite finds a row by such a
    /// key without a separate index, and in fewer B-tree levels. Among a million grants, a refresh reads ten pages
    /// instead of the fifteen that text keys would take. Codes reference their grants by identifier, because few codes
    /// exist at a time.
    private static let grants = """
        CREATE TABLE consents (
            person_id TEXT NOT NULL REFERENCES people (id),
            client_id TEXT NOT NULL REFERENCES clients (id),
            scope TEXT NOT NULL,
            remembered TEXT NOT NULL,
            -- The remembered scopes, by API.
            remembered_at TEXT NOT NULL,
            appearance BLOB NOT NULL CHECK (length(appearance) = 32),
            since INTEGER NOT NULL,
            allowed_at INTEGER NOT NULL,
            last_used_at INTEGER,
            PRIMARY KEY (person_id, client_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE grants (
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            person_number INTEGER NOT NULL REFERENCES people (number),
            client_id TEXT NOT NULL REFERENCES clients (id),
            scope TEXT NOT NULL,
            -- The scopes that were allowed only for claims requested by name.
            claim_scope TEXT NOT NULL,
            resources TEXT NOT NULL,
            id_token_claims TEXT NOT NULL,
            user_info_claims TEXT NOT NULL,
            session_id TEXT,
            -- Marks that the client was notified of the end of the session.
            session_ended_at INTEGER,
            authenticated_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            last_used_at INTEGER NOT NULL,
            revoked_at INTEGER,
            has_refresh_tokens INTEGER NOT NULL DEFAULT 0 CHECK (has_refresh_tokens IN (0, 1))
        ) STRICT;
        CREATE INDEX grants_person_client ON grants (person_number, client_id);
        CREATE INDEX grants_session ON grants (session_id)
            WHERE session_id IS NOT NULL AND revoked_at IS NULL AND session_ended_at IS NULL;
        CREATE INDEX grants_revoked ON grants (revoked_at) WHERE revoked_at IS NOT NULL;
        -- A grant with refresh tokens expires after them, so it is not searched for while it has some.
        CREATE INDEX grants_last_used ON grants (last_used_at) WHERE has_refresh_tokens = 0;

        CREATE TABLE codes (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            interaction BLOB NOT NULL UNIQUE CHECK (length(interaction) = 32),
            grant_id TEXT NOT NULL REFERENCES grants (id),
            redirect_uri TEXT NOT NULL,
            redirect_uri_was_given INTEGER NOT NULL CHECK (redirect_uri_was_given IN (0, 1)),
            -- The scope of the authorization request, which the token request may repeat.
            requested_scope TEXT NOT NULL,
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
        CREATE INDEX codes_grant ON codes (grant_id);
        CREATE INDEX codes_expires ON codes (expires_at);

        CREATE TABLE refresh_tokens (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            grant_number INTEGER NOT NULL UNIQUE REFERENCES grants (number),
            generation INTEGER NOT NULL CHECK (generation >= 0),
            rotated_at INTEGER NOT NULL,
            repeats INTEGER NOT NULL CHECK (repeats >= 0),
            last_used_at INTEGER NOT NULL,
            -- Never after last_used_at, and at most an hour before it, so most refreshes change no index.
            resting_since INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_tokens_resting ON refresh_tokens (resting_since);
        CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at);

        CREATE TABLE refresh_statistics (
            client_id TEXT NOT NULL PRIMARY KEY REFERENCES clients (id),
            repeats INTEGER NOT NULL,
            reuses INTEGER NOT NULL,
            last_reuse_at INTEGER,
            revocations INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- Client assertions that were used.
        CREATE TABLE assertions (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX assertions_expires ON assertions (expires_at);
        """

    private static let signingKeys = """
        CREATE TABLE signing_keys (
            id TEXT NOT NULL PRIMARY KEY,
            algorithm TEXT NOT NULL,
            sealed BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            signs_from INTEGER NOT NULL,
            replaced_at INTEGER
        ) STRICT;
        """

    /// A queue of back-channel logout deliveries for each client, so that a slow host delays no other client.
    private static let logout = """
        CREATE TABLE logout_deliveries (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            client_id TEXT NOT NULL REFERENCES clients (id),
            person_id TEXT NOT NULL REFERENCES people (id),
            session_id TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX logout_deliveries_client ON logout_deliveries (client_id, due_at, number);

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

    /// The audit log, from which only the oldest events can be deleted.
    ///
    /// A transaction that deletes events first inserts the number of the last event to delete into `audit_removal`.
    private static let audit = """
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
        CREATE INDEX audit_kind ON audit (kind, number);

        -- Holds a row only within the transaction of a deletion.
        CREATE TABLE audit_removal (through INTEGER NOT NULL) STRICT;

        CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
        CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
            WHEN NOT EXISTS (SELECT 1 FROM audit_removal WHERE audit_removal.through >= OLD.number)
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
        """

    /// The last time at which a server recorded that the store responds, and the earlier outages of the store.
    private static let operation = """
        CREATE TABLE service (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            answered_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE outages (
            began_at INTEGER NOT NULL PRIMARY KEY,
            ended_at INTEGER NOT NULL
        ) STRICT;
        """
}
