import GRDB

extension Migration {
    /// Adds the key to which they are bound to codes and token families, and lets a code have no redirect URI.
    ///
    /// A `device_code` has no redirect URI. SQLite cannot drop a constraint from a column, so the table of the codes is
    /// replaced.
    static let keyThumbprints = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE refresh_tokens ADD COLUMN key_thumbprint TEXT;

                CREATE TABLE new_codes (
                    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                    interaction BLOB NOT NULL UNIQUE CHECK (length(interaction) = 32),
                    grant_id TEXT NOT NULL REFERENCES grants (id),
                    redirect_uri TEXT,
                    redirect_uri_was_given INTEGER CHECK (redirect_uri_was_given IN (0, 1)),
                    -- The scope of the authorization request, which the token request may repeat.
                    requested_scope TEXT NOT NULL,
                    code_challenge TEXT,
                    code_challenge_method TEXT CHECK (code_challenge_method = 'S256'),
                    key_thumbprint TEXT,
                    nonce BLOB,
                    authenticated_at INTEGER NOT NULL,
                    issued_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,
                    used_at INTEGER,
                    failed_redemptions INTEGER NOT NULL CHECK (failed_redemptions >= 0),
                    CHECK ((code_challenge IS NULL) = (code_challenge_method IS NULL)),
                    CHECK ((redirect_uri IS NULL) = (redirect_uri_was_given IS NULL))
                ) STRICT, WITHOUT ROWID;
                INSERT INTO new_codes (
                    digest, interaction, grant_id, redirect_uri, redirect_uri_was_given, requested_scope, code_challenge,
                    code_challenge_method, nonce, authenticated_at, issued_at, expires_at, used_at, failed_redemptions
                ) SELECT
                    digest, interaction, grant_id, redirect_uri, redirect_uri_was_given, requested_scope, code_challenge,
                    code_challenge_method, nonce, authenticated_at, issued_at, expires_at, used_at, failed_redemptions
                FROM codes;
                DROP TABLE codes;
                ALTER TABLE new_codes RENAME TO codes;
                CREATE INDEX codes_grant ON codes (grant_id);
                CREATE INDEX codes_expires ON codes (expires_at);
                """)
    }
}
