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

    /// Reads the questions of the developers of a client that have not expired, by name.
    public func clientQuestions(
        of client: ClientIdentifier, at time: Date
    ) async throws(StoreFault) -> [ClientQuestion] {
        try await read { database in
            try database.all(ClientQuestion.ofClient, client.rawValue, time.microseconds) { columns in
                ClientQuestion(username: try columns.value { Username($0) }, expires: try columns.date())
            }
        }
    }

    /// Reads the scopes of the administration that are approved for the services that a user owns or manages.
    public func administrationScope(ofClientsOf user: UserIdentifier) async throws(StoreFault) -> Scope {
        try await read { database in
            let approved = try database.all(ClientDeveloper.administrationScopes, user.rawValue) { columns in
                try columns.scope()
            }
            return Scope(approved.flatMap { $0.tokens.filter(\.isOfAdministration) })
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
            case .remove, .withdraw: .usually(.clientDeveloper)
            case .handOver: .usually(.clientDeveloper, .clientChanged, .clientMachineScope, .clientKeys)
            }
        return try await commit(ending: endings, recording: events) { database in
            let facts = try database.first(
                "SELECT owner_id FROM clients WHERE id = ? AND source = 'console'", client.rawValue
            ) { columns in try columns.optionalText() }
            guard let facts else { return .notFound }
            let owner = facts.flatMap(UserIdentifier.init(_:))
            guard try database.may(change, of: client, ownedBy: owner, by: authority) else { return .notAllowed }
            switch change {
            case .invite(let name, let user):
                return try database.invite(name, user, to: client, ownedBy: owner, at: time)
            case .withdraw(let name): return try database.withdrawQuestion(to: name, from: client)
            case .add(let user): return try database.addDeveloper(user, of: client, ownedBy: owner, at: time)
            case .accept(let user): return try database.acceptInvitation(of: user, to: client, at: time)
            case .remove(let user): return try database.removeDeveloper(user, of: client)
            case .handOver(let user, let settled, let limit):
                guard settled.id == client else { return .notFound }
                return try database.handOver(settled, of: owner, to: user, ownerLimit: limit, at: time)
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

extension ClientDeveloper {
    /// The query for the scopes of the services that user ?1 owns or manages, if any is of the administration.
    static let administrationScopes = """
        SELECT clients.machine_scope FROM clients WHERE clients.owner_id = ?1 AND \(hasAdministrationScope)
        UNION
        SELECT clients.machine_scope
        FROM client_developers JOIN clients ON clients.id = client_developers.client_id
        WHERE client_developers.person_id = ?1 AND client_developers.accepted_at IS NOT NULL
            AND \(hasAdministrationScope)
        """

    private static let hasAdministrationScope = """
        clients.type = '\(ClientType.service.rawValue)'
            AND ' ' || clients.machine_scope LIKE '% \(Scope.Token.administrationPrefix)%'
        """
}

extension ClientQuestion {
    /// The query for the questions of client ?1 that can be answered at the time ?2.
    static let ofClient = """
        SELECT username, expires_at FROM client_questions WHERE client_id = ?1 AND expires_at > ?2 ORDER BY username
        """
}

extension SQLConnection {
    /// Ends what a former owner of a client has asked, and deletes the row of the owner, who manages it anyway.
    func settleDevelopers(ofOwned client: ClientIdentifier) throws {
        try endQuestions(of: client)
        try send(
            """
            DELETE FROM client_developers
            WHERE client_id = ?1 AND person_id = (SELECT owner_id FROM clients WHERE id = ?1)
            """, client.rawValue)
    }

    /// Ends every open question of a client.
    private func endQuestions(of client: ClientIdentifier) throws {
        try send("DELETE FROM client_developers WHERE client_id = ? AND accepted_at IS NULL", client.rawValue)
        try send("DELETE FROM client_questions WHERE client_id = ?", client.rawValue)
    }

    /// Ends what a user manages and is asked, and the questions of the clients that the user manages.
    func removeDeveloper(ofEveryClient user: UserIdentifier) throws {
        let managed = "SELECT client_id FROM client_developers WHERE person_id = ?1 AND accepted_at IS NOT NULL"
        try send("DELETE FROM client_questions WHERE client_id IN (\(managed))", user.rawValue)
        try send(
            "DELETE FROM client_developers WHERE accepted_at IS NULL AND client_id IN (\(managed))", user.rawValue)
        try send("DELETE FROM client_developers WHERE person_id = ?", user.rawValue)
        try send(
            "DELETE FROM client_questions WHERE username = (SELECT username FROM people WHERE id = ?)", user.rawValue)
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
        case .invite, .withdraw, .remove:
            if owner == actor { return true }
            return try isDeveloper(actor, of: client)
        case .handOver: return owner == actor
        // Only an administrator skips the question.
        case .add: return false
        }
    }

    fileprivate func invite(
        _ name: Username, _ user: UserIdentifier?, to client: ClientIdentifier, ownedBy owner: UserIdentifier?,
        at time: Date
    ) throws -> ClientDeveloperOutcome {
        if let user {
            guard user != owner, try isEnabled(user), try !isDeveloper(user, of: client) else { return .unchanged }
        }
        let others = "SELECT count(*) < ?3 FROM client_questions WHERE client_id = ?1 AND username <> ?2"
        try send(
            "DELETE FROM client_questions WHERE client_id = ?1 AND expires_at <= ?2", client.rawValue,
            time.microseconds)
        guard try answers(others, client.rawValue, name.rawValue, ClientDeveloper.questionLimit) == [true] else {
            return .tooManyQuestions
        }
        let expires = time.addingTimeInterval(TimeInterval(ClientDeveloper.invitationDays) * 86_400).microseconds
        if let user {
            try send(
                "DELETE FROM client_developers WHERE person_id = ?1 AND expires_at <= ?2", user.rawValue,
                time.microseconds)
            guard try hasRoom(user, besides: client), try canBeAsked(user, besides: client) else { return .tooMany }
            try send(
                """
                INSERT INTO client_developers (client_id, person_id, expires_at) VALUES (?1, ?2, ?3)
                ON CONFLICT (client_id, person_id) DO UPDATE SET expires_at = excluded.expires_at
                """, client.rawValue, user.rawValue, expires)
        }
        try send(
            """
            INSERT INTO client_questions (client_id, username, expires_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (client_id, username) DO UPDATE SET expires_at = excluded.expires_at
            """, client.rawValue, name.rawValue, expires)
        return .changed
    }

    fileprivate func withdrawQuestion(
        to name: Username, from client: ClientIdentifier
    ) throws -> ClientDeveloperOutcome {
        let invitations = try run(
            """
            DELETE FROM client_developers
            WHERE client_id = ?1 AND accepted_at IS NULL
                AND person_id = (SELECT id FROM people WHERE username = ?2)
            """, client.rawValue, name.rawValue)
        let questions = try run(
            "DELETE FROM client_questions WHERE client_id = ?1 AND username = ?2", client.rawValue, name.rawValue)
        return invitations + questions > 0 ? .changed : .unchanged
    }

    fileprivate func removeDeveloper(
        _ user: UserIdentifier, of client: ClientIdentifier
    ) throws -> ClientDeveloperOutcome {
        let managed = try isDeveloper(user, of: client)
        let removed = try run(
            "DELETE FROM client_developers WHERE client_id = ?1 AND person_id = ?2", client.rawValue, user.rawValue)
        if managed { try endQuestions(of: client) }
        return removed == 1 ? .changed : .unchanged
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
        try removeQuestion(to: user, from: client)
        return .changed
    }

    fileprivate func acceptInvitation(
        of user: UserIdentifier, to client: ClientIdentifier, at time: Date
    ) throws -> ClientDeveloperOutcome {
        guard try hasRoom(client), try hasRoom(user, besides: client) else { return .tooMany }
        let accepted = try run(
            """
            UPDATE client_developers SET accepted_at = ?3, expires_at = NULL
            WHERE client_id = ?1 AND person_id = ?2 AND accepted_at IS NULL AND expires_at > ?3
            """, client.rawValue, user.rawValue, time.microseconds)
        guard accepted == 1 else { return .unchanged }
        try removeQuestion(to: user, from: client)
        return .changed
    }

    /// Deletes the record of a question to a user who manages the client now.
    private func removeQuestion(to user: UserIdentifier, from client: ClientIdentifier) throws {
        try send(
            """
            DELETE FROM client_questions
            WHERE client_id = ?1 AND username = (SELECT username FROM people WHERE id = ?2)
            """, client.rawValue, user.rawValue)
    }

    fileprivate func handOver(
        _ client: RegisteredClient, of owner: UserIdentifier?, to user: UserIdentifier, ownerLimit: Int, at time: Date
    ) throws -> ClientDeveloperOutcome {
        guard try isEnabled(user), try isDeveloper(user, of: client.id) else { return .unchanged }
        let isFull = try answers("SELECT count(*) >= ? FROM clients WHERE owner_id = ?", ownerLimit, user.rawValue)
        guard isFull == [false] else { return .tooMany }
        // The whole record is read, because an update replaces it.
        guard let stored = try self.client(client.id), stored.revision == client.revision else {
            return .changedMeanwhile
        }
        var changed = client
        changed.owner = user
        changed.changedAt = time
        changed.revision += 1
        try update(changed)
        try settleDevelopers(ofOwned: client.id)
        if let owner {
            try send(
                "INSERT INTO client_developers (client_id, person_id, accepted_at) VALUES (?1, ?2, ?3)",
                client.id.rawValue, owner.rawValue, time.microseconds)
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

    /// Returns whether a user can manage one more client.
    private func hasRoom(_ user: UserIdentifier, besides client: ClientIdentifier) throws -> Bool {
        try answers(
            """
            SELECT count(*) < ?2 FROM client_developers
            WHERE person_id = ?1 AND client_id <> ?3 AND accepted_at IS NOT NULL
            """, user.rawValue, ClientDeveloper.clientLimit, client.rawValue) == [true]
    }

    /// Returns whether a user can be asked to manage one more client.
    private func canBeAsked(_ user: UserIdentifier, besides client: ClientIdentifier) throws -> Bool {
        try answers(
            """
            SELECT count(*) < ?2 FROM client_developers
            WHERE person_id = ?1 AND client_id <> ?3 AND accepted_at IS NULL
            """, user.rawValue, ClientDeveloper.invitationLimit, client.rawValue) == [true]
    }
}
