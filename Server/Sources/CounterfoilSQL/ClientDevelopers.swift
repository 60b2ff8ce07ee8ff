public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the users who manage a client besides its owner, in the order in which they accepted.
    public func developers(of client: ClientIdentifier) async throws(StoreFault) -> [ClientDeveloper] {
        try await read { database in
            try database.list(ClientDeveloper.ofClient, client.rawValue, noting: unsupported) { columns in
                ClientDeveloper(user: try User(&columns), since: try columns.date())
            }
        }
    }

    /// Returns whether a user manages a client besides its owner.
    public func isDeveloper(_ user: UserIdentifier, of client: ClientIdentifier) async throws(StoreFault) -> Bool {
        try await read { database in try database.isDeveloper(user, of: client) }
    }

    /// Reads the identifiers of the clients that a user manages with their owners.
    public func clientIdentifiers(managedBy user: UserIdentifier) async throws(StoreFault) -> [ClientIdentifier] {
        try await read { database in
            try database.all(
                """
                SELECT client_id FROM client_developers WHERE person_id = ? AND accepted_at IS NOT NULL
                ORDER BY accepted_at, client_id
                """, user.rawValue
            ) { columns in ClientIdentifier(try columns.text()) }.compactMap { $0 }
        }
    }

    /// Reads the invitations of a user that have not expired, by the name of the client.
    public func clientInvitations(
        of user: UserIdentifier, at time: Date
    ) async throws(StoreFault) -> [ClientInvitation] {
        try await read { database in
            let clients = try database.list(
                ClientDeveloper.invitations, user.rawValue, time.microseconds, noting: unsupported,
                read: RegisteredClient.init(_:))
            return try clients.map { client in
                ClientInvitation(client: client, owner: try client.owner.flatMap { try database.owner($0) })
            }
        }
    }

    /// Changes the users who manage a client.
    public func changeDevelopers(
        of client: ClientIdentifier, _ change: ClientDeveloperChange, by authority: ClientDeveloperAuthority,
        at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ClientDeveloperOutcome {
        let endings: DeclaredEndings =
            switch change {
            case .invite, .add, .accept: .sometimes(.clientDeveloper)
            case .remove: .usually(.clientDeveloper)
            case .handOver: .usually(.clientDeveloper, .clientChanged)
            }
        return try await commit(ending: endings, recording: events) { database in
            let facts = try database.first(
                "SELECT owner_id FROM clients WHERE id = ? AND source = 'console'", client.rawValue
            ) { columns in try columns.optionalText() }
            guard let facts else { return .notFound }
            let owner = facts.flatMap(UserIdentifier.init(_:))
            guard try database.may(change, of: client, ownedBy: owner, by: authority) else { return .notAllowed }
            switch change {
            case .invite(let user): return try database.invite(user, to: client, ownedBy: owner, at: time)
            case .add(let user): return try database.addDeveloper(user, of: client, ownedBy: owner, at: time)
            case .accept(let user): return try database.acceptInvitation(of: user, to: client, at: time)
            case .remove(let user):
                return try database.run(
                    "DELETE FROM client_developers WHERE client_id = ?1 AND person_id = ?2", client.rawValue,
                    user.rawValue) == 1 ? .changed : .unchanged
            case .handOver(let user, let limit):
                return try database.handOver(client, of: owner, to: user, ownerLimit: limit, at: time)
            }
        }
    }
}

extension ClientDeveloper {
    /// The query for the users who manage client ?1.
    static let ofClient = """
        SELECT \(User.columns), client_developers.accepted_at
        FROM client_developers JOIN people ON people.id = client_developers.person_id
        WHERE client_developers.client_id = ?1 AND client_developers.accepted_at IS NOT NULL
        ORDER BY client_developers.accepted_at, people.username
        """

    /// The query for the clients that user ?1 is asked to manage at the time ?2.
    static let invitations = """
        SELECT \(RegisteredClient.columns)
        FROM client_developers JOIN clients ON clients.id = client_developers.client_id
        WHERE client_developers.person_id = ?1 AND client_developers.accepted_at IS NULL
            AND client_developers.expires_at > ?2
        ORDER BY clients.name_key, clients.id
        """
}

extension SQLConnection {
    /// Deletes the row of the owner of a client, who manages it anyway.
    func removeOwnerFromDevelopers(of client: ClientIdentifier) throws {
        try send(
            """
            DELETE FROM client_developers
            WHERE client_id = ?1 AND person_id = (SELECT owner_id FROM clients WHERE id = ?1)
            """, client.rawValue)
    }

    fileprivate func isDeveloper(_ user: UserIdentifier, of client: ClientIdentifier) throws -> Bool {
        try answers(
            """
            SELECT EXISTS (
                SELECT 1 FROM client_developers WHERE client_id = ?1 AND person_id = ?2 AND accepted_at IS NOT NULL
            )
            """, client.rawValue, user.rawValue) == [true]
    }

    fileprivate func may(
        _ change: ClientDeveloperChange, of client: ClientIdentifier, ownedBy owner: UserIdentifier?,
        by authority: ClientDeveloperAuthority
    ) throws -> Bool {
        guard case .user(let actor) = authority else { return true }
        switch change {
        case .accept(let user): return user == actor
        case .remove(actor): return true
        case .invite, .remove:
            if owner == actor { return true }
            return try isDeveloper(actor, of: client)
        case .handOver: return owner == actor
        // Only an administrator skips the question.
        case .add: return false
        }
    }

    fileprivate func invite(
        _ user: UserIdentifier, to client: ClientIdentifier, ownedBy owner: UserIdentifier?, at time: Date
    ) throws -> ClientDeveloperOutcome {
        guard user != owner, try isEnabled(user), try !isDeveloper(user, of: client) else { return .unchanged }
        try send(
            "DELETE FROM client_developers WHERE person_id = ?1 AND expires_at <= ?2", user.rawValue, time.microseconds)
        guard try hasRoom(user, besides: client) else { return .tooMany }
        try send(
            """
            INSERT INTO client_developers (client_id, person_id, expires_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (client_id, person_id) DO UPDATE SET expires_at = excluded.expires_at
            """, client.rawValue, user.rawValue,
            time.addingTimeInterval(TimeInterval(ClientDeveloper.invitationDays) * 86_400).microseconds)
        return .changed
    }

    fileprivate func addDeveloper(
        _ user: UserIdentifier, of client: ClientIdentifier, ownedBy owner: UserIdentifier?, at time: Date
    ) throws -> ClientDeveloperOutcome {
        guard user != owner, try isEnabled(user), try !isDeveloper(user, of: client) else { return .unchanged }
        guard try hasRoom(client), try hasRoom(user, besides: client) else { return .tooMany }
        try send(
            """
            INSERT INTO client_developers (client_id, person_id, accepted_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (client_id, person_id) DO UPDATE SET accepted_at = excluded.accepted_at, expires_at = NULL
            """, client.rawValue, user.rawValue, time.microseconds)
        return .changed
    }

    fileprivate func acceptInvitation(
        of user: UserIdentifier, to client: ClientIdentifier, at time: Date
    ) throws -> ClientDeveloperOutcome {
        guard try hasRoom(client) else { return .tooMany }
        let accepted = try run(
            """
            UPDATE client_developers SET accepted_at = ?3, expires_at = NULL
            WHERE client_id = ?1 AND person_id = ?2 AND accepted_at IS NULL AND expires_at > ?3
            """, client.rawValue, user.rawValue, time.microseconds)
        return accepted == 1 ? .changed : .unchanged
    }

    fileprivate func handOver(
        _ client: ClientIdentifier, of owner: UserIdentifier?, to user: UserIdentifier, ownerLimit: Int, at time: Date
    ) throws -> ClientDeveloperOutcome {
        guard try isEnabled(user), try isDeveloper(user, of: client) else { return .unchanged }
        let isFull = try answers("SELECT count(*) >= ? FROM clients WHERE owner_id = ?", ownerLimit, user.rawValue)
        guard isFull == [false] else { return .tooMany }
        try send(
            "UPDATE clients SET owner_id = ?2, changed_at = ?3, revision = revision + 1 WHERE id = ?1", client.rawValue,
            user.rawValue, time.microseconds)
        try removeOwnerFromDevelopers(of: client)
        if let owner {
            try send(
                "INSERT INTO client_developers (client_id, person_id, accepted_at) VALUES (?1, ?2, ?3)",
                client.rawValue, owner.rawValue, time.microseconds)
        }
        return .changed
    }

    private func isEnabled(_ user: UserIdentifier) throws -> Bool {
        try answers(
            "SELECT EXISTS (SELECT 1 FROM people WHERE id = ? AND disabled_at IS NULL)", user.rawValue) == [true]
    }

    /// Returns whether one more user can manage a client.
    private func hasRoom(_ client: ClientIdentifier) throws -> Bool {
        try answers(
            "SELECT count(*) < ?2 FROM client_developers WHERE client_id = ?1 AND accepted_at IS NOT NULL",
            client.rawValue, ClientDeveloper.limit) == [true]
    }

    /// Returns whether a user can manage one more client, or be asked to.
    private func hasRoom(_ user: UserIdentifier, besides client: ClientIdentifier) throws -> Bool {
        try answers(
            "SELECT count(*) < ?2 FROM client_developers WHERE person_id = ?1 AND client_id <> ?3", user.rawValue,
            ClientDeveloper.clientLimit, client.rawValue) == [true]
    }
}
