import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import GRDB

extension Migration {
    /// Adds the clients that no person registered, the policy for them, and the tokens for registrations.
    static let unregisteredClients = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE clients ADD COLUMN keys_uri TEXT;
                ALTER TABLE clients ADD COLUMN
                    source TEXT NOT NULL DEFAULT 'console' CHECK (source IN ('console', 'documents', 'registration'));
                -- The metadata of a client that identified or registered itself, as JSON.
                ALTER TABLE clients ADD COLUMN metadata BLOB;
                ALTER TABLE clients ADD COLUMN registration_access_token BLOB;
                -- The host of the document of a client, in lower case.
                ALTER TABLE clients ADD COLUMN host TEXT;
                CREATE INDEX clients_source ON clients (source, changed_at) WHERE source <> 'console';
                CREATE INDEX clients_host ON clients (source, host, created_at, id) WHERE source <> 'console';
                CREATE INDEX clients_registered ON clients (created_at) WHERE source = 'console';
                CREATE INDEX consents_client ON consents (client_id);
                CREATE INDEX grants_client ON grants (client_id);

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
                """)
        for change in ["INSERT", "UPDATE"] {
            try database.execute(sql: renewal(of: "unregistered_client_policy", after: change))
        }
        for change in ["INSERT", "UPDATE", "DELETE"] {
            try database.execute(sql: renewal(of: "scopes", after: change))
        }
        try database.execute(sql: clientOrigins)
        // A client with a document has no row until a user allows it something, so these tables no longer reference
        // the table of the clients.
        for (table, statements) in [
            ("pushed_requests", pushedRequestTable), ("device_authorizations", deviceAuthorizationTable),
        ] {
            try database.execute(sql: "ALTER TABLE \(table) RENAME TO former_\(table)")
            for index in try database.connection.all(
                "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
                "former_\(table)", read: { columns in try columns.text() })
            {
                try database.execute(sql: "DROP INDEX \(index)")
            }
            try database.execute(sql: statements)
            try database.execute(sql: "INSERT INTO \(table) SELECT * FROM former_\(table)")
            try database.execute(sql: "DROP TABLE former_\(table)")
        }
    }

    /// The table of the origins of clients, which triggers keep equal to the lists in the table of the clients.
    ///
    /// Everyone can ask for an origin, and can register clients with many.
    private static let clientOrigins = """
        CREATE TABLE client_origins (
            origin TEXT NOT NULL,
            client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            PRIMARY KEY (origin, client_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX client_origins_client ON client_origins (client_id);
        DROP INDEX IF EXISTS clients_origins;
        INSERT INTO client_origins (origin, client_id)
            SELECT DISTINCT value, clients.id FROM clients, json_each('["' || replace(origins, ' ', '","') || '"]')
            WHERE origins <> '';
        CREATE TRIGGER clients_insert_origins AFTER INSERT ON clients WHEN NEW.origins <> ''
        BEGIN
            INSERT INTO client_origins (origin, client_id)
                SELECT DISTINCT value, NEW.id FROM json_each('["' || replace(NEW.origins, ' ', '","') || '"]');
        END;
        CREATE TRIGGER clients_update_origins AFTER UPDATE OF origins ON clients WHEN NEW.origins <> OLD.origins
        BEGIN
            DELETE FROM client_origins WHERE client_id = NEW.id;
            INSERT INTO client_origins (origin, client_id)
                SELECT DISTINCT value, NEW.id FROM json_each('["' || replace(NEW.origins, ' ', '","') || '"]')
                WHERE NEW.origins <> '';
        END;
        """

    private static let pushedRequestTable = """
        CREATE TABLE pushed_requests (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            client_id TEXT NOT NULL,
            -- The parameters as a query, without the credentials of the client.
            parameters TEXT NOT NULL,
            source TEXT,
            pushed_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            opened_at INTEGER
        ) STRICT;
        CREATE INDEX pushed_requests_client ON pushed_requests (client_id, expires_at);
        CREATE INDEX pushed_requests_source ON pushed_requests (client_id, source, expires_at);
        CREATE INDEX pushed_requests_expires ON pushed_requests (expires_at);
        """

    private static let deviceAuthorizationTable = """
        CREATE TABLE device_authorizations (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            user_code BLOB NOT NULL UNIQUE CHECK (length(user_code) = 32),
            client_id TEXT NOT NULL,
            scope TEXT NOT NULL,
            resources TEXT NOT NULL,
            -- Always an S256 challenge.
            code_challenge TEXT,
            requested_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            source TEXT NOT NULL,
            user_agent TEXT NOT NULL,
            poll_interval INTEGER NOT NULL CHECK (poll_interval > 0),
            last_polled_at INTEGER,
            denied_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_authorizations_client ON device_authorizations (client_id);
        CREATE INDEX device_authorizations_source ON device_authorizations (source, expires_at);
        CREATE INDEX device_authorizations_expires ON device_authorizations (expires_at);
        """
}
