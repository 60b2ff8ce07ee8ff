public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the policy for unregistered clients, which has its default values until it is changed.
    public func unregisteredClientPolicy() async throws(StoreFault) -> UnregisteredClientPolicy {
        try await read { database in try database.unregisteredClientPolicy() }
    }

    /// Changes the policy if its stored revision still equals that of `policy`, and increases the revision by one.
    public func updateUnregisteredClientPolicy(
        _ policy: UnregisteredClientPolicy, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUnregisteredClientPolicyOutcome {
        try await commit(ending: .usually(.policyChanged), recording: events) { database in
            guard try database.unregisteredClientPolicy().revision == policy.revision else { return .changedMeanwhile }
            // The policy that was read lacks the kinds that this version does not know, so an update would remove them.
            if let kind = try database.unsupportedKind() { throw StoreFault.unsupported(kind) }
            var changed = policy
            changed.revision += 1
            try database.keep(changed)
            return .updated
        }
    }

    /// Adds a host to those that the policy refuses, and changes nothing else.
    ///
    /// Only this column is read, so that a host can be refused whatever a newer version has written.
    public func refuseHost(
        _ host: HostPattern, recording events: [AuditEvent]
    ) async throws(StoreFault) -> RefuseHostOutcome {
        try await commit(ending: .usually(.policyChanged), recording: events) { database in
            let refused = try database.first("SELECT refused_hosts FROM unregistered_client_policy") { columns in
                try columns.text()
            }
            if let refused {
                let hosts = refused.split(separator: " ").map(String.init)
                guard !hosts.compactMap(HostPattern.init(_:)).contains(where: { $0.matches(host.rawValue) }) else {
                    return .alreadyRefused
                }
                guard hosts.count < UnregisteredClientPolicy.hostLimit else { return .tooMany }
                try database.send(
                    """
                    UPDATE unregistered_client_policy
                    SET refused_hosts = trim(refused_hosts || ' ' || ?), revision = revision + 1
                    """, host.rawValue)
            } else {
                try database.keep(UnregisteredClientPolicy(refusedHosts: [host], revision: 1))
            }
            return .refused
        }
    }

    /// Registers a client that registers itself, unless too many such clients are unused.
    public func addSelfRegisteredClient(
        _ client: RegisteredClient, secret: ClientSecretRecord?, unusedLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome {
        try await commit(recording: events) { database in
            if let refusal = try database.refusal(ofNew: client) { return refusal }
            guard try database.answers(StoreQuery.unusedAreTooMany, unusedLimit) == [false] else { return .tooMany }
            try database.insert(client)
            if let secret { try database.insert(secret) }
            return .added
        }
    }

    /// Counts the users who have allowed something to a client, at most `limit`.
    public func userCount(of id: ClientIdentifier, atMost limit: Int) async throws(StoreFault) -> Int {
        try await read { database in
            try database.first(StoreQuery.usersOfClient, id.rawValue, limit) { columns in Int(try columns.integer()) }
                ?? 0
        }
    }

    /// Stores a token for registrations.
    public func addInitialAccessToken(
        _ token: InitialAccessToken, recording events: [AuditEvent]
    ) async throws(StoreFault) {
        try await commit { database in
            try database.append(events)
            try database.send(
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
        try await read { database in
            try database.all(
                "SELECT \(InitialAccessToken.columns) FROM initial_access_tokens ORDER BY created_at, rowid",
                read: InitialAccessToken.init(_:))
        }
    }

    /// Reads a token for registrations; nil if there is none with this digest, or if it has expired.
    public func initialAccessToken(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> InitialAccessToken? {
        try await read { database in
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
        try await commit(ending: .usually(.registrationToken), recording: events) { database in
            try database.run("DELETE FROM initial_access_tokens WHERE digest = ?", Data(digest.bytes)) == 1
        }
    }
}

extension StoreQuery {
    /// The query whether a number of clients that registered themselves have no consent.
    package static let unusedAreTooMany = """
        SELECT count(*) >= ?1 FROM (
            SELECT 1 FROM clients
            WHERE source <> 'console' AND source = 'registration'
                AND NOT EXISTS (SELECT 1 FROM consents WHERE client_id = clients.id)
            LIMIT ?1
        ) AS found
        """

    /// The query for the number of consents of a client, at most ?2.
    package static let usersOfClient = """
        SELECT count(*) FROM (
            SELECT 1 FROM consents WHERE client_id = ?1 AND \(ClientRemovals.isOfNone) LIMIT ?2
        ) AS found
        """
}

extension SQLConnection {
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
        try send(
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
