import CounterfoilProtocol
import CounterfoilServer
import Foundation
import GRDB

extension Migration {
    /// Presentation and policies of clients, client secrets, logos, consents, the browsers of sessions, and branding.
    static let applicationsAndConsents = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE logos (
                    id TEXT NOT NULL PRIMARY KEY,
                    media_type TEXT NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg')),
                    bytes BLOB NOT NULL
                ) STRICT;

                ALTER TABLE clients ADD COLUMN owner_id TEXT REFERENCES people (id);
                ALTER TABLE clients ADD COLUMN optional_scope TEXT NOT NULL DEFAULT '';
                ALTER TABLE clients ADD COLUMN consent_text TEXT;
                ALTER TABLE clients ADD COLUMN privacy_uri TEXT;
                ALTER TABLE clients ADD COLUMN terms_uri TEXT;
                ALTER TABLE clients ADD COLUMN logo TEXT REFERENCES logos (id);
                ALTER TABLE clients ADD COLUMN origins TEXT NOT NULL DEFAULT '';
                ALTER TABLE clients ADD COLUMN apple_apps TEXT NOT NULL DEFAULT '';
                ALTER TABLE clients ADD COLUMN android_apps TEXT NOT NULL DEFAULT '';
                ALTER TABLE clients ADD COLUMN is_vouched_for INTEGER NOT NULL DEFAULT 0
                    CHECK (is_vouched_for IN (0, 1));
                ALTER TABLE clients ADD COLUMN is_claimed_https_verified INTEGER NOT NULL DEFAULT 0
                    CHECK (is_claimed_https_verified IN (0, 1));
                ALTER TABLE clients ADD COLUMN pkce_policy TEXT NOT NULL DEFAULT 's256';
                ALTER TABLE clients ADD COLUMN refresh_tokens TEXT NOT NULL DEFAULT 'offline-access';
                ALTER TABLE clients ADD COLUMN access_token_lifetime INTEGER;
                ALTER TABLE clients ADD COLUMN id_token_lifetime INTEGER;
                ALTER TABLE clients ADD COLUMN web_views TEXT NOT NULL DEFAULT 'block';
                ALTER TABLE clients ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE clients ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
                -- Until now only who runs the server could register an application.
                UPDATE clients SET changed_at = created_at, is_vouched_for = 1,
                    web_views = CASE type WHEN 'native' THEN 'block' ELSE 'warn' END;

                CREATE INDEX clients_owner ON clients (owner_id) WHERE owner_id IS NOT NULL;
                CREATE INDEX clients_logo ON clients (logo) WHERE logo IS NOT NULL;

                CREATE TABLE client_secrets (
                    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                    client_id TEXT NOT NULL REFERENCES clients (id),
                    created_at INTEGER NOT NULL
                ) STRICT;

                CREATE INDEX client_secrets_client ON client_secrets (client_id);

                CREATE TABLE pkce_exceptions (
                    client_id TEXT NOT NULL PRIMARY KEY REFERENCES clients (id),
                    count INTEGER NOT NULL CHECK (count > 0),
                    last_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                ALTER TABLE sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
                ALTER TABLE sessions ADD COLUMN source TEXT NOT NULL DEFAULT '';

                CREATE INDEX sessions_person ON sessions (person_id);
                CREATE INDEX grants_person_client ON grants (person_id, client_id);
                CREATE INDEX codes_grant ON codes (grant_id);

                CREATE TABLE consents (
                    person_id TEXT NOT NULL REFERENCES people (id),
                    client_id TEXT NOT NULL REFERENCES clients (id),
                    scope TEXT NOT NULL,
                    remembered TEXT NOT NULL,
                    appearance BLOB NOT NULL CHECK (length(appearance) = 32),
                    since INTEGER NOT NULL,
                    allowed_at INTEGER NOT NULL,
                    last_used_at INTEGER,
                    PRIMARY KEY (person_id, client_id)
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
                """
        )
        try fillConsents(database)
    }

    /// Creates the consents for existing grants.
    ///
    /// The former appearance of the clients is unknown, so each consent has an appearance that no client has.
    private static func fillConsents(_ database: Database) throws {
        guard let unknown = ClientAppearance(stored: [UInt8](repeating: 0, count: 32)) else { return }
        var consent: Consent?
        try database.forEachRow(
            """
            SELECT person_id, client_id, scope, created_at,
                (SELECT max(used_at) FROM codes WHERE codes.grant_id = grants.id)
            FROM grants WHERE grants.revoked_at IS NULL
            ORDER BY grants.person_id, grants.client_id, grants.created_at
            """
        ) { columns in
            let person = try columns.value(PersonIdentifier.init(_:))
            let client = try columns.value(ClientIdentifier.init(_:))
            let (scope, createdAt, usedAt) = (try columns.scope(), try columns.date(), try columns.optionalDate())
            if var same = consent, same.personID == person, same.clientID == client {
                same.scope = same.scope.union(scope)
                same.remembered = same.scope
                same.allowedAt = createdAt
                same.lastUsedAt = [same.lastUsedAt, usedAt].compactMap { $0 }.max()
                consent = same
            } else {
                if let consent { try insert(consent, into: database) }
                consent = Consent(
                    personID: person, clientID: client, scope: scope, remembered: scope,
                    appearance: unknown, since: createdAt, allowedAt: createdAt, lastUsedAt: usedAt
                )
            }
        }
        if let consent { try insert(consent, into: database) }
    }

    /// Inserts a consent with the columns of this version.
    private static func insert(_ consent: Consent, into database: Database) throws {
        try database.run(
            """
            INSERT INTO consents (person_id, client_id, scope, remembered, appearance, since, allowed_at, last_used_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            consent.personID.rawValue,
            consent.clientID.rawValue,
            consent.scope.description,
            consent.remembered.description,
            Data(consent.appearance.bytes),
            consent.since.microseconds,
            consent.allowedAt.microseconds,
            consent.lastUsedAt?.microseconds
        )
    }
}
