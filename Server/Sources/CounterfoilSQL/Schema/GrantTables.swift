extension StoreSchema {
    /// Users, sessions, passkeys, second factors and identities.
    static let users = """
        CREATE TABLE people (
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT COLLATE BINARY NOT NULL UNIQUE,
            username TEXT COLLATE BINARY NOT NULL UNIQUE,
            email TEXT COLLATE BINARY UNIQUE,
            display_name TEXT NOT NULL,
            -- The display name in the form in which `UserSearch` compares it.
            display_name_key TEXT COLLATE BINARY NOT NULL,
            password_hash TEXT CHECK (password_hash <> ''),
            role TEXT COLLATE BINARY CHECK (role <> ''),
            profile TEXT NOT NULL,
            -- The version of the terms that the user accepted last, and the time.
            terms_version TEXT,
            terms_accepted_at INTEGER,
            -- The time at which the user was offered a passkey after a sign-in with a password; it happens once.
            passkey_offered_at INTEGER,
            -- Whether the user has a row in `second_factors`, whose loss turns nothing off.
            has_second_factor INTEGER NOT NULL DEFAULT 0 CHECK (has_second_factor IN (0, 1)),
            -- Whether the password begins no session until the user has chosen another one.
            must_change_password INTEGER NOT NULL DEFAULT 0 CHECK (must_change_password IN (0, 1)),
            created_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            disabled_at INTEGER,
            -- The identifier that a directory has for the user.
            external_id TEXT COLLATE BINARY CHECK (external_id <> ''),
            -- In no index, so that a sign-in changes none.
            last_sign_in_at INTEGER,
            CHECK ((terms_version IS NULL) = (terms_accepted_at IS NULL))
        ) STRICT;
        CREATE INDEX people_roles ON people (role, username) WHERE role IS NOT NULL;
        CREATE INDEX people_disabled ON people (username) WHERE disabled_at IS NOT NULL;
        CREATE INDEX people_display_name ON people (display_name_key);
        CREATE INDEX people_external_id ON people (external_id, username) WHERE external_id IS NOT NULL;

        -- Deleted users with records that are not deleted yet.
        CREATE TABLE removed_people (
            -- The former number in `people`, with which the grants of the user are found.
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT COLLATE BINARY NOT NULL UNIQUE,
            pseudonym TEXT COLLATE BINARY NOT NULL,
            username TEXT NOT NULL,
            email TEXT,
            display_name TEXT NOT NULL,
            -- The digest of the last pushed request that was searched for the user.
            pushed_through BLOB NOT NULL DEFAULT x''
        ) STRICT;

        CREATE TABLE sessions (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            id TEXT COLLATE BINARY NOT NULL,
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id),
            authenticated_at INTEGER NOT NULL,
            -- `AuthenticationMethods` as they are stored.
            methods TEXT COLLATE BINARY NOT NULL,
            last_seen_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            user_agent TEXT NOT NULL,
            source TEXT NOT NULL,
            is_persistent INTEGER NOT NULL CHECK (is_persistent IN (0, 1))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessions_id ON sessions (id);
        CREATE INDEX sessions_person ON sessions (person_id);
        CREATE INDEX sessions_expires ON sessions (expires_at);
        CREATE INDEX sessions_last_seen ON sessions (last_seen_at);

        CREATE TABLE passkeys (
            -- The digest of the credential ID.
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            credential_id BLOB NOT NULL,
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id),
            -- A `COSE_Key`.
            public_key BLOB NOT NULL,
            name TEXT NOT NULL,
            -- The AAGUID of the authenticator.
            model BLOB NOT NULL,
            transports TEXT NOT NULL,
            is_backup_eligible INTEGER NOT NULL CHECK (is_backup_eligible IN (0, 1)),
            is_backed_up INTEGER NOT NULL CHECK (is_backed_up IN (0, 1)),
            signature_counter INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            last_used_at INTEGER,
            last_user_agent TEXT NOT NULL,
            last_source TEXT NOT NULL,
            -- Whether it is a security key, which only proves the second factor after the password.
            is_security_key INTEGER NOT NULL CHECK (is_security_key IN (0, 1))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX passkeys_person ON passkeys (person_id);

        CREATE TABLE second_factors (
            person_id TEXT COLLATE BINARY NOT NULL PRIMARY KEY REFERENCES people (id),
            -- The digest of the secret.
            digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
            sealed_secret BLOB NOT NULL,
            -- The fingerprint of the server key that encrypted the secret.
            sealed_by TEXT COLLATE BINARY NOT NULL,
            created_at INTEGER NOT NULL,
            -- Whether an authenticator app has the secret; if not, the user has security keys only.
            has_app INTEGER NOT NULL CHECK (has_app IN (0, 1)),
            -- The time step of the last accepted code (RFC 6238).
            last_step INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX second_factors_sealed_by ON second_factors (sealed_by);

        -- Recovery codes that are not used.
        CREATE TABLE recovery_codes (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX recovery_codes_person ON recovery_codes (person_id);

        -- The groups of users, by name.
        CREATE TABLE user_groups (
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id),
            name TEXT COLLATE BINARY NOT NULL,
            PRIMARY KEY (person_id, name)
        ) STRICT, WITHOUT ROWID;

        -- The attributes of users that the owner has defined, as JSON.
        CREATE TABLE user_attributes (
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id),
            name TEXT COLLATE BINARY NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (person_id, name)
        ) STRICT, WITHOUT ROWID;

        -- The identities of users at other issuers, with which the users sign in.
        CREATE TABLE user_identities (
            issuer TEXT COLLATE BINARY NOT NULL,
            subject TEXT COLLATE BINARY NOT NULL,
            -- Names the identity in endings and pages, which do not have the subject.
            id TEXT COLLATE BINARY NOT NULL UNIQUE,
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id),
            created_at INTEGER NOT NULL,
            last_used_at INTEGER,
            PRIMARY KEY (issuer, subject)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX user_identities_person ON user_identities (person_id);
        """

    /// Consents, grants, codes and refresh tokens.
    ///
    /// Refresh tokens refer to grants, and grants to users, by an integer key. SQLite finds a row by such a key without
    /// a separate index, and in fewer B-tree levels. Among a million grants, a refresh reads ten pages instead of the
    /// fifteen that text keys would take. Codes refer to their grants by identifier, because few codes exist at a time.
    static let grants = """
        CREATE TABLE consents (
            person_id TEXT COLLATE BINARY NOT NULL REFERENCES people (id),
            -- The identifier of the client in `clients` or in `client_removals`.
            client_id TEXT COLLATE BINARY NOT NULL,
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
        CREATE INDEX consents_client ON consents (client_id);

        CREATE TABLE grants (
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT COLLATE BINARY NOT NULL UNIQUE,
            -- The number of the user in `people` or in `removed_people`.
            person_number INTEGER NOT NULL,
            -- The identifier of the client in `clients` or in `client_removals`.
            client_id TEXT COLLATE BINARY NOT NULL,
            scope TEXT COLLATE BINARY NOT NULL,
            -- The scopes that were allowed only for claims requested by name.
            claim_scope TEXT COLLATE BINARY NOT NULL,
            resources TEXT NOT NULL,
            id_token_claims TEXT NOT NULL,
            user_info_claims TEXT NOT NULL,
            session_id TEXT COLLATE BINARY,
            -- Marks that the client was notified of the end of the session.
            session_ended_at INTEGER,
            authenticated_at INTEGER NOT NULL,
            methods TEXT COLLATE BINARY NOT NULL,
            -- The name of the `AuthenticationContext` that tokens state.
            context TEXT COLLATE BINARY NOT NULL,
            -- The name that the client gave its device, and the request in which the user approved or the device asked.
            device_name TEXT,
            user_agent TEXT NOT NULL,
            source TEXT NOT NULL,
            is_separate_device INTEGER NOT NULL CHECK (is_separate_device IN (0, 1)),
            created_at INTEGER NOT NULL,
            last_used_at INTEGER NOT NULL,
            -- The latest expiry of an access token, as of `last_used_at`.
            access_until INTEGER,
            revoked_at INTEGER,
            has_refresh_tokens INTEGER NOT NULL DEFAULT 0 CHECK (has_refresh_tokens IN (0, 1))
        ) STRICT;
        CREATE INDEX grants_person_client ON grants (person_number, client_id);
        CREATE INDEX grants_client ON grants (client_id, person_number);
        CREATE INDEX grants_session ON grants (session_id)
            WHERE session_id IS NOT NULL AND revoked_at IS NULL AND session_ended_at IS NULL;
        CREATE INDEX grants_revoked ON grants (revoked_at) WHERE revoked_at IS NOT NULL;
        -- A grant with refresh tokens expires after them, so it is not searched for while it has some.
        CREATE INDEX grants_last_used ON grants (last_used_at) WHERE has_refresh_tokens = 0;

        -- Authorization codes, and approved device codes, which have no redirect URI.
        CREATE TABLE codes (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            interaction BLOB NOT NULL UNIQUE CHECK (length(interaction) = 32),
            grant_id TEXT COLLATE BINARY NOT NULL REFERENCES grants (id),
            redirect_uri TEXT,
            redirect_uri_was_given INTEGER CHECK (redirect_uri_was_given IN (0, 1)),
            -- The scope of the authorization request, which the token request may repeat.
            requested_scope TEXT NOT NULL,
            code_challenge TEXT,
            code_challenge_method TEXT CHECK (code_challenge_method = 'S256'),
            key_thumbprint TEXT,
            nonce BLOB,
            issued_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            used_at INTEGER,
            failed_redemptions INTEGER NOT NULL CHECK (failed_redemptions >= 0),
            -- The attempt of a redemption, until it is known whether its tokens were sent.
            attempt BLOB CHECK (length(attempt) = 16),
            -- The time of the first other redemption while the attempt is stored.
            contested_at INTEGER,
            CHECK ((code_challenge IS NULL) = (code_challenge_method IS NULL)),
            CHECK ((redirect_uri IS NULL) = (redirect_uri_was_given IS NULL))
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
            expires_at INTEGER NOT NULL,
            key_thumbprint TEXT,
            last_attempt BLOB CHECK (length(last_attempt) = 16)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_tokens_resting ON refresh_tokens (resting_since);
        CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at);

        -- The slots are for several servers on one database.
        CREATE TABLE refresh_statistics (
            client_id TEXT COLLATE BINARY NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            slot INTEGER NOT NULL,
            repeats INTEGER NOT NULL,
            reuses INTEGER NOT NULL,
            last_reuse_at INTEGER,
            revocations INTEGER NOT NULL,
            PRIMARY KEY (client_id, slot)
        ) STRICT, WITHOUT ROWID;
        """

    /// Client assertions, pushed requests and device authorizations.
    ///
    /// A client with a document has no row until a user allows it something, so the requests refer to none.
    static let requests = """
        -- Client assertions that were used.
        -- Used client assertions, and the challenges of passkeys that have begun a session.
        CREATE TABLE assertions (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            expires_at INTEGER NOT NULL,
            attempt BLOB CHECK (length(attempt) = 16)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX assertions_expires ON assertions (expires_at);

        CREATE TABLE pushed_requests (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            client_id TEXT COLLATE BINARY NOT NULL,
            -- The parameters as a query, without the credentials of the client.
            parameters TEXT NOT NULL,
            source TEXT COLLATE BINARY,
            pushed_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            opened_at INTEGER
        ) STRICT;
        CREATE INDEX pushed_requests_client ON pushed_requests (client_id, expires_at);
        CREATE INDEX pushed_requests_source ON pushed_requests (client_id, source, expires_at);
        CREATE INDEX pushed_requests_expires ON pushed_requests (expires_at);

        -- Device authorizations that no user has approved yet (RFC 8628). An approval replaces a row by one in `codes`
        -- with the same digest.
        CREATE TABLE device_authorizations (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            user_code BLOB NOT NULL UNIQUE CHECK (length(user_code) = 32),
            client_id TEXT COLLATE BINARY NOT NULL,
            scope TEXT NOT NULL,
            resources TEXT NOT NULL,
            -- Always an S256 challenge.
            code_challenge TEXT,
            requested_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            source TEXT COLLATE BINARY NOT NULL,
            user_agent TEXT NOT NULL,
            device_name TEXT,
            poll_interval INTEGER NOT NULL CHECK (poll_interval > 0),
            last_polled_at INTEGER,
            denied_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_authorizations_client ON device_authorizations (client_id);
        CREATE INDEX device_authorizations_source ON device_authorizations (source, expires_at);
        CREATE INDEX device_authorizations_expires ON device_authorizations (expires_at);
        """
}
