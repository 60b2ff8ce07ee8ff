extension StoreSchema {
    /// Scopes, clients, client secrets, APIs, the policy for unregistered clients, branding and signing keys.
    static let registry = """
        CREATE TABLE scopes (
            name TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            description TEXT NOT NULL,
            -- Whether the metadata lists the scope.
            is_listed INTEGER NOT NULL DEFAULT 0 CHECK (is_listed IN (0, 1)),
            -- Whether its checkbox on the consent page is selected at first.
            starts_ticked INTEGER NOT NULL DEFAULT 0 CHECK (starts_ticked IN (0, 1)),
            -- Whether only clients that an administrator has approved get it.
            is_reserved INTEGER NOT NULL DEFAULT 0 CHECK (is_reserved IN (0, 1)),
            -- The claims about a user that it releases, and the places in which a client gets them.
            claims TEXT COLLATE BINARY NOT NULL DEFAULT '',
            claim_places TEXT NOT NULL DEFAULT ''
        ) STRICT, WITHOUT ROWID;

        -- The descriptions of scopes in other languages than the standard one.
        CREATE TABLE scope_texts (
            scope TEXT COLLATE BINARY NOT NULL REFERENCES scopes (name) ON DELETE CASCADE,
            language TEXT COLLATE BINARY NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (scope, language)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE logos (
            id TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            media_type TEXT NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg')),
            bytes BLOB NOT NULL
        ) STRICT;

        CREATE TABLE clients (
            id TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            type TEXT COLLATE BINARY NOT NULL,
            owner_id TEXT COLLATE BINARY REFERENCES people (id),
            name TEXT NOT NULL,
            -- The name in the form in which `ClientSearch` compares it.
            name_key TEXT COLLATE BINARY NOT NULL,
            publisher TEXT,
            consent_text TEXT,
            privacy_uri TEXT,
            terms_uri TEXT,
            logo TEXT COLLATE BINARY REFERENCES logos (id),
            redirect_uris TEXT NOT NULL,
            post_logout_redirect_uris TEXT NOT NULL,
            backchannel_logout_uri TEXT,
            origins TEXT COLLATE BINARY NOT NULL,
            apple_apps TEXT NOT NULL,
            android_apps TEXT NOT NULL,
            keys BLOB,
            keys_uri TEXT,
            scope TEXT COLLATE BINARY NOT NULL,
            optional_scope TEXT COLLATE BINARY NOT NULL,
            -- The scopes that a service can request without a user.
            machine_scope TEXT COLLATE BINARY NOT NULL,
            source TEXT COLLATE BINARY NOT NULL CHECK (source IN ('console', 'documents', 'registration')),
            -- The metadata of a client that identified or registered itself, as JSON.
            metadata BLOB,
            registration_access_token BLOB,
            -- The host of the document of a client, in lower case.
            host TEXT COLLATE BINARY,
            is_first_party INTEGER NOT NULL CHECK (is_first_party IN (0, 1)),
            is_vouched_for INTEGER NOT NULL CHECK (is_vouched_for IN (0, 1)),
            is_claimed_https_verified INTEGER NOT NULL CHECK (is_claimed_https_verified IN (0, 1)),
            pkce_policy TEXT NOT NULL,
            requires_state INTEGER NOT NULL CHECK (requires_state IN (0, 1)),
            requires_pushed_requests INTEGER NOT NULL CHECK (requires_pushed_requests IN (0, 1)),
            requires_bound_tokens INTEGER NOT NULL CHECK (requires_bound_tokens IN (0, 1)),
            refresh_tokens TEXT NOT NULL,
            rotates_refresh_tokens INTEGER CHECK (rotates_refresh_tokens IN (0, 1)),
            refresh_grace_period INTEGER,
            refresh_idle_lifetime INTEGER,
            refresh_lifetime INTEGER,
            subject_type TEXT NOT NULL,
            access_token_lifetime INTEGER,
            id_token_lifetime INTEGER,
            id_token_algorithm TEXT NOT NULL,
            puts_user_claims_in_id_token INTEGER NOT NULL CHECK (puts_user_claims_in_id_token IN (0, 1)),
            web_views TEXT NOT NULL,
            minimum_authentication TEXT NOT NULL,
            approval TEXT NOT NULL,
            -- Usernames; the developer can name people who have no account.
            testers TEXT COLLATE BINARY NOT NULL,
            suspended_at INTEGER,
            suspension_reason TEXT CHECK ((suspension_reason IS NULL) = (suspended_at IS NULL)),
            created_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            revision INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX clients_owner ON clients (owner_id) WHERE owner_id IS NOT NULL;
        CREATE INDEX clients_logo ON clients (logo) WHERE logo IS NOT NULL;
        CREATE INDEX clients_source ON clients (source, changed_at) WHERE source <> 'console';
        CREATE INDEX clients_host ON clients (source, host, created_at, id) WHERE source <> 'console';
        CREATE INDEX clients_registered ON clients (created_at) WHERE source = 'console';
        CREATE INDEX clients_newest ON clients (created_at, id) WHERE source = 'console';
        CREATE INDEX clients_name ON clients (name_key, id, created_at, source) WHERE source = 'console';
        CREATE INDEX clients_approval ON clients (approval, name_key, id) WHERE source = 'console';
        CREATE INDEX clients_suspended ON clients (name_key, id)
            WHERE source = 'console' AND suspended_at IS NOT NULL;
        CREATE INDEX clients_machine_access ON clients (type, name_key, id)
            WHERE \(StoreQuery.awaitsMachineAccess);
        CREATE INDEX clients_associated ON clients (created_at) WHERE \(StoreQuery.isAssociated);
        CREATE INDEX clients_idle_lifetime ON clients (refresh_idle_lifetime) WHERE \(StoreQuery.setsIdleLifetime);

        -- The origins of clients, which triggers keep equal to the lists in the table of the clients. Everyone can ask
        -- for an origin, and can register clients with many.
        CREATE TABLE client_origins (
            origin TEXT COLLATE BINARY NOT NULL,
            client_id TEXT COLLATE BINARY NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            PRIMARY KEY (origin, client_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX client_origins_client ON client_origins (client_id);

        -- The identifiers of deleted clients, so that no developer registers another client with one of them.
        CREATE TABLE removed_clients (id TEXT COLLATE BINARY NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;

        -- Deleted clients with records that are not deleted yet.
        CREATE TABLE client_removals (
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT COLLATE BINARY NOT NULL UNIQUE
        ) STRICT;

        CREATE TABLE client_secrets (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            client_id TEXT COLLATE BINARY NOT NULL REFERENCES clients (id),
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX client_secrets_client ON client_secrets (client_id);

        -- The users who manage a client together with its owner, and those who are asked to.
        CREATE TABLE client_developers (
            client_id TEXT COLLATE BINARY NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id),
            accepted_at INTEGER,
            -- The time from which an invitation cannot be accepted.
            expires_at INTEGER CHECK ((expires_at IS NULL) = (accepted_at IS NOT NULL)),
            PRIMARY KEY (client_id, person_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX client_developers_person ON client_developers (person_id);
        CREATE INDEX client_developers_expires ON client_developers (expires_at) WHERE expires_at IS NOT NULL;

        -- The names that the developers of a client have asked, also those that no user has: what a developer sees must
        -- not tell which users exist.
        CREATE TABLE client_questions (
            client_id TEXT COLLATE BINARY NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            username TEXT COLLATE BINARY NOT NULL,
            expires_at INTEGER NOT NULL,
            PRIMARY KEY (client_id, username)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX client_questions_username ON client_questions (username);
        CREATE INDEX client_questions_expires ON client_questions (expires_at);

        -- The last use of each client by a user, at most an hour before the true time, so that few commits change it.
        CREATE TABLE client_uses (
            client_id TEXT COLLATE BINARY NOT NULL PRIMARY KEY REFERENCES clients (id) ON DELETE CASCADE,
            last_used_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- How often a client was served without S256. The slots are for several servers on one database.
        CREATE TABLE pkce_exceptions (
            client_id TEXT COLLATE BINARY NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            slot INTEGER NOT NULL,
            count INTEGER NOT NULL CHECK (count > 0),
            last_at INTEGER NOT NULL,
            PRIMARY KEY (client_id, slot)
        ) STRICT, WITHOUT ROWID;

        -- APIs.
        CREATE TABLE resources (
            resource TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            normalized TEXT COLLATE BINARY NOT NULL,
            client_id TEXT COLLATE BINARY NOT NULL UNIQUE,
            name TEXT NOT NULL,
            scope TEXT COLLATE BINARY NOT NULL,
            secret BLOB NOT NULL CHECK (length(secret) = 32),
            token_type TEXT NOT NULL CHECK (token_type IN ('at+jwt', 'jwt')),
            requires_bound_tokens INTEGER NOT NULL CHECK (requires_bound_tokens IN (0, 1)),
            created_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX resources_normalized ON resources (normalized);

        CREATE TABLE unregistered_client_policy (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            kinds TEXT NOT NULL,
            allowed_hosts TEXT NOT NULL,
            refused_hosts TEXT NOT NULL,
            default_scope TEXT NOT NULL,
            maximum_scope TEXT,
            resources TEXT,
            refresh_tokens TEXT NOT NULL,
            access_token_lifetime INTEGER,
            refresh_idle_lifetime INTEGER,
            refresh_lifetime INTEGER,
            approvers TEXT NOT NULL,
            requires_initial_access_token INTEGER NOT NULL CHECK (requires_initial_access_token IN (0, 1)),
            revision INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE initial_access_tokens (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            name TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX initial_access_tokens_expires ON initial_access_tokens (expires_at);

        CREATE TABLE branding (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            site_name TEXT,
            logo TEXT COLLATE BINARY REFERENCES logos (id),
            accent TEXT,
            support_uri TEXT,
            revision INTEGER NOT NULL
        ) STRICT;
        INSERT INTO branding (id, revision) VALUES (1, 0);

        -- The statements of the service on the consent page, by language.
        CREATE TABLE site_statements (
            language TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            text TEXT,
            privacy_uri TEXT,
            CHECK (text IS NOT NULL OR privacy_uri IS NOT NULL)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE signing_keys (
            id TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            algorithm TEXT COLLATE BINARY NOT NULL,
            sealed BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            signs_from INTEGER NOT NULL,
            replaced_at INTEGER
        ) STRICT;

        -- A number that triggers renew with each change of the registry.
        CREATE TABLE registry (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            revision INTEGER NOT NULL
        ) STRICT;
        """
}
