public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation
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
            for index in try database.all(
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

extension SQLiteStore: UnregisteredClientStore {
    /// Reads the policy for unregistered clients, which has its default values until it is changed.
    public func unregisteredClientPolicy() async throws(StoreFault) -> UnregisteredClientPolicy {
        try read { database in try database.unregisteredClientPolicy() }
    }

    /// Changes the policy if its stored revision still equals that of `policy`, and increases the revision by one.
    public func updateUnregisteredClientPolicy(
        _ policy: UnregisteredClientPolicy, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUnregisteredClientPolicyOutcome {
        try await commits.commit(recording: events) { database in
            guard try database.unregisteredClientPolicy().revision == policy.revision else { return .changedMeanwhile }
            // The policy that was read lacks the kinds that this version does not know, so an update would remove them.
            if let kind = try database.unsupportedKind() { throw StoreFault.unsupported(kind) }
            var changed = policy
            changed.revision += 1
            try database.keep(changed)
            return .updated
        }
    }

    /// Adds a host to those that the policy refuses, and changes nothing else; returns false if the policy refuses it
    /// already.
    ///
    /// Only this column is read, so that a host can be refused whatever a newer version has written.
    @discardableResult
    public func refuseHost(
        _ host: HostPattern, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commits.commit(recording: events) { database in
            let refused = try database.first("SELECT refused_hosts FROM unregistered_client_policy") { columns in
                try columns.text()
            }
            if let refused {
                let patterns = refused.split(separator: " ").compactMap { HostPattern(String($0)) }
                guard !patterns.contains(where: { $0.matches(host.rawValue) }) else { return false }
                try database.run(
                    """
                    UPDATE unregistered_client_policy
                    SET refused_hosts = trim(refused_hosts || ' ' || ?), revision = revision + 1
                    """, host.rawValue)
            } else {
                try database.keep(UnregisteredClientPolicy(refusedHosts: [host], revision: 1))
            }
            return true
        }
    }

    /// Registers a client that registers itself, unless too many such clients are unused.
    public func addSelfRegisteredClient(
        _ client: RegisteredClient, secret: ClientSecretRecord?, unusedLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome {
        try await commits.commit(recording: events) { database in
            let isTaken = try database.answers("SELECT EXISTS (SELECT 1 FROM clients WHERE id = ?)", client.id.rawValue)
            guard isTaken == [false] else { return .identifierTaken }
            guard try !database.isBeingRemoved(client.id) else { return .identifierBeingFreed }
            let unknown = try database.unknownScopes(in: client.scope.union(client.optionalScope))
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            guard try database.answers(Self.unusedAreTooMany, unusedLimit) == [false] else { return .tooMany }
            try database.insert(client)
            if let secret { try database.insert(secret) }
            return .added
        }
    }

    /// Counts the users who have allowed something to a client, at most `limit`.
    public func userCount(of id: ClientIdentifier, atMost limit: Int) async throws(StoreFault) -> Int {
        try read { database in
            try database.first(Self.usersOfClient, id.rawValue, limit) { columns in Int(try columns.integer()) } ?? 0
        }
    }

    /// Stores a token for registrations.
    public func addInitialAccessToken(
        _ token: InitialAccessToken, recording events: [AuditEvent]
    ) async throws(StoreFault) {
        try await commits.commit { database in
            try database.append(events)
            try database.run(
                "INSERT INTO initial_access_tokens (digest, name, created_at, expires_at) VALUES (?, ?, ?, ?)",
                Data(token.digest.bytes),
                token.name,
                token.createdAt.microseconds,
                token.expiresAt.microseconds
            )
        }
    }

    /// Reads the tokens for registrations, oldest first, even if they have expired.
    public func initialAccessTokens() async throws(StoreFault) -> [InitialAccessToken] {
        try read { database in
            try database.all(
                "SELECT \(InitialAccessToken.columns) FROM initial_access_tokens ORDER BY created_at, rowid",
                read: InitialAccessToken.init(_:))
        }
    }

    /// Reads a token for registrations; nil if there is none with this digest, or if it has expired.
    public func initialAccessToken(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> InitialAccessToken? {
        try read { database in
            try database.first(
                "SELECT \(InitialAccessToken.columns) FROM initial_access_tokens WHERE digest = ? AND expires_at > ?",
                Data(digest.bytes), time.microseconds, read: InitialAccessToken.init(_:))
        }
    }

    /// Deletes a token for registrations; returns false if there is none with this digest.
    @discardableResult
    public func removeInitialAccessToken(
        _ digest: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commits.commit(recording: events) { database in
            try database.run("DELETE FROM initial_access_tokens WHERE digest = ?", Data(digest.bytes)) == 1
        }
    }

    /// The query whether a number of clients that registered themselves have no consent.
    static let unusedAreTooMany = """
        SELECT count(*) >= ?1 FROM (
            SELECT 1 FROM clients
            WHERE source <> 'console' AND source = 'registration'
                AND NOT EXISTS (SELECT 1 FROM consents WHERE client_id = clients.id)
            LIMIT ?1
        )
        """

    /// The query for the number of consents of a client, at most ?2.
    static let usersOfClient = """
        SELECT count(*) FROM (
            SELECT 1 FROM consents WHERE client_id = ?1 AND \(ClientRemovals.isOfNone) LIMIT ?2
        )
        """
}

extension Database {
    fileprivate func unregisteredClientPolicy() throws -> UnregisteredClientPolicy {
        try first(
            "SELECT \(UnregisteredClientPolicy.columns) FROM unregistered_client_policy",
            read: UnregisteredClientPolicy.init(_:)) ?? UnregisteredClientPolicy()
    }

    /// Returns a kind in the stored policy that this version does not know; nil if there is none.
    fileprivate func unsupportedKind() throws -> UnsupportedValue? {
        let found = try first("SELECT kinds FROM unregistered_client_policy") { columns in
            columns.record = UnregisteredClientPolicy.record
            let words = try columns.text().split(separator: " ").map(String.init)
            return words.first { UnregisteredClientKind(rawValue: $0) == nil }.map { columns.unsupported($0) }
        }
        return found ?? nil
    }

    fileprivate func keep(_ policy: UnregisteredClientPolicy) throws {
        try run(
            """
            INSERT INTO unregistered_client_policy (id, \(UnregisteredClientPolicy.columns))
            VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET
                (\(UnregisteredClientPolicy.columns)) = (\(UnregisteredClientPolicy.excluded))
            """,
            policy.kinds.map(\.rawValue).sorted().joined(separator: " "),
            policy.allowedHosts.map(\.rawValue).joined(separator: " "),
            policy.refusedHosts.map(\.rawValue).joined(separator: " "),
            policy.defaultScope.description,
            policy.maximumScope?.description,
            policy.resources?.map(\.rawValue).joined(separator: " "),
            policy.refreshTokens.rawValue,
            policy.accessTokenLifetime,
            policy.refreshIdleLifetime,
            policy.refreshLifetime,
            policy.approvers.rawValue,
            policy.requiresInitialAccessToken,
            policy.revision
        )
    }
}

extension UnregisteredClientPolicy {
    private static let names = [
        "kinds", "allowed_hosts", "refused_hosts", "default_scope", "maximum_scope", "resources", "refresh_tokens",
        "access_token_lifetime", "refresh_idle_lifetime", "refresh_lifetime", "approvers",
        "requires_initial_access_token", "revision",
    ]
    fileprivate static let columns = names.joined(separator: ", ")
    fileprivate static let excluded = names.map { "excluded." + $0 }.joined(separator: ", ")

    fileprivate static let record = "policy for unregistered clients"

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = Self.record
        self.init(
            // A kind that this version does not know is not accepted. An unknown host could be a refused one, and an
            // unknown group of approvers could be smaller, so such a policy cannot be used.
            kinds: Set(try columns.supportedList(UnregisteredClientKind.init(rawValue:))),
            allowedHosts: try columns.list(HostPattern.init(_:)),
            refusedHosts: try columns.list(HostPattern.init(_:)),
            defaultScope: try columns.scope(),
            maximumScope: try columns.optionalForm(Scope.init(stored:)),
            resources: try columns.optionalForm { text in
                try text.split(separator: " ").map { try Resource(String($0)) }
            },
            refreshTokens: try columns.word(RefreshTokenPolicy.init(rawValue:)),
            accessTokenLifetime: try columns.optionalInteger().map(Int.init),
            refreshIdleLifetime: try columns.optionalInteger().map(Int.init),
            refreshLifetime: try columns.optionalInteger().map(Int.init),
            approvers: try columns.word(UnregisteredClientPolicy.Approvers.init(rawValue:)),
            requiresInitialAccessToken: try columns.flag(),
            revision: Int(try columns.integer())
        )
    }
}

extension Scope {
    /// Parses a stored list of scope tokens, which can be empty; nil if one of them is invalid.
    fileprivate init?(stored text: String) {
        var tokens: [Token] = []
        for piece in text.split(separator: " ") {
            guard let token = Token(String(piece)) else { return nil }
            tokens.append(token)
        }
        self.init(tokens)
    }
}

extension InitialAccessToken {
    fileprivate static let columns = "digest, name, created_at, expires_at"

    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            digest: try columns.digest(), name: try columns.text(), createdAt: try columns.date(),
            expiresAt: try columns.date())
    }
}
