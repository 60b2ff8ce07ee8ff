public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads a client by its identifier.
    public func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        try await read { database in try database.client(id) }
    }

    /// Reads every client that a person registered, oldest first.
    public func clients() async throws(StoreFault) -> [RegisteredClient] {
        try await read { database in
            try database.list(StoreQuery.registeredClients, noting: unsupported, read: RegisteredClient.init(_:))
        }
    }

    /// Counts the clients that persons registered, and those that wait for an administrator.
    public func clientCounts() async throws(StoreFault) -> ClientCounts {
        let counts = try await read { database in
            try database.first(StoreQuery.clientCounts) { columns in
                ClientCounts(
                    all: Int(try columns.integer()), pending: Int(try columns.integer()),
                    inDevelopment: Int(try columns.integer()), machineAccess: Int(try columns.integer()))
            }
        }
        return counts ?? ClientCounts(all: 0, pending: 0, inDevelopment: 0, machineAccess: 0)
    }

    /// Reads the clients that a developer has registered, oldest first.
    public func clients(of owner: UserIdentifier) async throws(StoreFault) -> [RegisteredClient] {
        try await read { database in
            try database.list(
                """
                SELECT \(RegisteredClient.columns) FROM clients WHERE clients.owner_id = ?
                ORDER BY clients.created_at, clients.rowid
                """,
                owner.rawValue,
                noting: unsupported,
                read: RegisteredClient.init(_:)
            )
        }
    }

    /// Reads the identifiers of the clients that a developer has registered, oldest first.
    public func clientIdentifiers(of owner: UserIdentifier) async throws(StoreFault) -> [ClientIdentifier] {
        try await read { database in
            try database.all(
                "SELECT id FROM clients WHERE owner_id = ? ORDER BY created_at, rowid", owner.rawValue
            ) { columns in ClientIdentifier(try columns.text()) }.compactMap { $0 }
        }
    }

    /// Reads the owner and the source of a client, and no other column; nil if there is no such client.
    public func clientOwnership(_ id: ClientIdentifier) async throws(StoreFault) -> ClientOwnership? {
        try await read { database in
            try database.first(
                "SELECT owner_id, source IN ('documents', 'registration') FROM clients WHERE id = ?", id.rawValue
            ) { columns in
                ClientOwnership(
                    id: id, owner: try columns.optionalText().flatMap(UserIdentifier.init(_:)),
                    isUnregistered: try columns.flag())
            }
        }
    }

    /// Returns true if any client has registered an origin that covers this one (RFC 6454), which CORS then allows.
    public func isRegistered(_ origin: WebOrigin) async throws(StoreFault) -> Bool {
        try await read { database in
            for registered in origin.covering
            where try database.answers(StoreQuery.originIsRegistered, registered.rawValue) == [true] {
                return true
            }
            return false
        }
    }

    /// Registers a client, unless its identifier is taken, one of its scopes or its owner does not exist, or its owner
    /// already has `ownerLimit` clients.
    ///
    /// If the new client has an owner, it cannot have the identifier of a deleted client either.
    public func addClient(
        _ client: RegisteredClient,
        logo: Logo?,
        secret: ClientSecretRecord?,
        ownerLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome {
        try await commit(recording: events) { database in
            if let refusal = try database.refusal(ofNew: client) { return refusal }
            if let owner = client.owner {
                let exists = try database.answers(
                    "SELECT EXISTS (SELECT 1 FROM people WHERE id = ?)", owner.rawValue)
                guard exists == [true] else { return .ownerNotFound }
                let wasRemoved = try database.answers(
                    "SELECT EXISTS (SELECT 1 FROM removed_clients WHERE id = ?)", client.id.rawValue)
                guard wasRemoved == [false] else { return .identifierTaken }
                let isFull = try database.answers(
                    "SELECT count(*) >= ? FROM clients WHERE owner_id = ?", ownerLimit, owner.rawValue)
                guard isFull == [false] else { return .tooMany }
            }
            var added = client
            added.presentation.logo = try database.keep(logo)
            try database.insert(added)
            if let secret { try database.insert(secret) }
            return .added
        }
    }

    /// Changes a client if its stored revision still equals that of `client`, and increases the revision by one.
    public func updateClient(
        _ client: RegisteredClient,
        logo: LogoChange,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateClientOutcome {
        try await commit(
            ending: .usually(
                .clientChanged, .clientSuspended, .clientKeys, .clientRegistrationToken, .clientMachineScope,
                .clientDeveloper),
            recording: events
        ) { database in
            // The whole record is read, because an update replaces it. A record with a value that this version does not
            // know is not changed.
            guard let stored = try database.client(client.id) else { return .notFound }
            guard stored.revision == client.revision else { return .changedMeanwhile }
            let unknown = try database.unknownScopes(in: client.scope.union(client.optionalScope))
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            var changed = client
            changed.presentation.logo = try database.logo(after: logo, former: stored.presentation.logo)
            changed.revision += 1
            try database.update(changed)
            if changed.owner != stored.owner { try database.settleDevelopers(ofOwned: client.id) }
            try database.removeLogoIfUnused(stored.presentation.logo)
            return .updated
        }
    }

    /// Stores a decision about a client, and reads and changes nothing else of its row but the revision.
    public func decide(
        _ decision: ClientDecision, on id: ClientIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ClientDecisionOutcome {
        try await commit(ending: .usually(.clientSuspended, .clientChanged), recording: events) { database in
            let state = try database.first(
                "SELECT suspended_at IS NOT NULL, approval = 'approved', revision FROM clients WHERE id = ?",
                id.rawValue
            ) { columns in
                (isSuspended: try columns.flag(), isApproved: try columns.flag(), revision: try columns.integer())
            }
            guard let state else { return .notFound }
            let changed = "changed_at = ?2, revision = revision + 1 WHERE id = ?1"
            switch decision {
            case .suspend(let reason):
                guard !state.isSuspended else { return .alreadyDecided }
                try database.send(
                    "UPDATE clients SET suspended_at = ?2, suspension_reason = ?3, \(changed)", id.rawValue,
                    time.microseconds, reason)
            case .resume:
                guard state.isSuspended else { return .alreadyDecided }
                try database.send(
                    "UPDATE clients SET suspended_at = NULL, suspension_reason = NULL, \(changed)", id.rawValue,
                    time.microseconds)
            case .approve(let revision):
                guard !state.isApproved else { return .alreadyDecided }
                guard state.revision == Int64(revision) else { return .changedMeanwhile }
                try database.send(
                    "UPDATE clients SET approval = 'approved', \(changed)", id.rawValue, time.microseconds)
            }
            return .decided
        }
    }

    /// Deletes a client; returns false if the client does not exist.
    ///
    /// The row of the client goes at once, with its secrets and statistics. Every query for grants, codes and tokens
    /// requires that row. Beyond `ClientRemoval.rowsAtOnce`, `continueRemovals` deletes its grants, codes, device
    /// authorizations, tokens, consents, pushed requests and queued logout notifications.
    @discardableResult
    public func removeClient(_ id: ClientIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        try await commit(
            ending: .usually(.client, .clientSecret, .clientDeveloper, .consent), recording: events
        ) { database in
            var rows = ClientRemoval.rowsAtOnce
            return try database.removeClientForGood(id.rawValue, atMost: &rows)
        }
    }

    /// Reads the number of codes issued to a client without an S256 challenge, and the time of the last; nil for none.
    public func pkceExceptionUse(of id: ClientIdentifier) async throws(StoreFault) -> PKCEExceptionUse? {
        try await read { database in
            let use = try database.first(
                "SELECT CAST(sum(count) AS bigint), max(last_at) FROM pkce_exceptions WHERE client_id = ?", id.rawValue
            ) { columns in (count: try columns.optionalInteger(), lastAt: try columns.optionalDate()) }
            guard let count = use?.count, let lastAt = use?.lastAt else { return nil }
            return PKCEExceptionUse(count: Int(count), lastAt: lastAt)
        }
    }
}

extension StoreQuery {
    /// The query for every client that a person registered; it reads only the partial index `clients_registered`.
    package static let registeredClients = """
        SELECT \(RegisteredClient.columns) FROM clients WHERE clients.source = 'console'
        ORDER BY clients.created_at, clients.rowid
        """

    /// The numbers of the clients that persons registered: all, pending, in development, and with scopes that wait.
    package static let clientCounts = """
        SELECT (SELECT count(*) FROM clients WHERE source = 'console'),
            (SELECT count(*) FROM clients WHERE \(isWaiting) AND approval = 'pending'),
            (SELECT count(*) FROM clients WHERE \(isWaiting) AND approval = 'development'),
            (SELECT count(*) FROM clients WHERE \(awaitsMachineAccess))
        """

    /// The condition for clients that wait with an approval other than `approved`.
    static let isWaiting = "source = 'console' AND is_first_party = 0 AND suspended_at IS NULL"

    /// The condition for services with a registered scope that no administrator has approved for requests without a
    /// user (``ClientQuery/State/machineAccess``), which is that of the index `clients_machine_access`.
    ///
    /// The approved scopes are some of the registered ones without those of users, so it compares the lengths.
    package static let awaitsMachineAccess = """
        source = 'console' AND type = 'service' AND suspended_at IS NULL
            AND length(machine_scope) < length(trim(\(scopeWithoutUsers)))
        """

    private static let scopeWithoutUsers = ScopeDefinition.standard.reduce("' ' || scope || ' '") { text, scope in
        "replace(\(text), ' \(scope.token) ', ' ')"
    }

    /// The query whether a client has an origin in its list; it reads one entry of an index.
    package static let originIsRegistered = "SELECT EXISTS (SELECT 1 FROM client_origins WHERE origin = ?)"
}

extension SQLConnection {
    /// Returns the reason for which no new client can have the identifier or the scopes of a client; nil if it can.
    func refusal(ofNew client: RegisteredClient) throws -> AddClientOutcome? {
        // RFC 9700 §4.15: an imported user can have an identifier that an administrator chooses for a client.
        let isTaken = try answers(
            "SELECT EXISTS (SELECT 1 FROM clients WHERE id = ?1) OR EXISTS (SELECT 1 FROM people WHERE id = ?1)",
            client.id.rawValue)
        guard isTaken == [false] else { return .identifierTaken }
        guard try !isBeingRemoved(client.id) else { return .identifierBeingFreed }
        let unknown = try unknownScopes(in: client.scope.union(client.optionalScope))
        return unknown.isEmpty ? nil : .unknownScopes(unknown)
    }

    /// Returns the scope tokens that are not in the table `scopes`.
    func unknownScopes(in scope: Scope) throws -> Scope {
        Scope(
            try scope.tokens.filter { token in
                try answers("SELECT EXISTS (SELECT 1 FROM scopes WHERE name = ?)", token.rawValue) == [false]
            }
        )
    }
}
