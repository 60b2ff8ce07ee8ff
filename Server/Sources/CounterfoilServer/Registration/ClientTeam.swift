package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The changes of the users who manage a client with its owner, on pages, at the command line and with tokens.
///
/// Each change is one commit with its events and the notice to the user. The store checks in it who may make the
/// change.
package struct ClientTeam: Sendable {
    /// The origin of the changes.
    package enum Actor: Sendable {
        /// A command on the machine of the server.
        case command
        /// A signed-in user, who may make every change as an administrator, with the request that submitted the form.
        case user(User, IncomingRequest, isAdministrator: Bool)
        /// A client with a token for the administration API, for a user or without one.
        case token(User?, ClientIdentifier, IncomingRequest)
    }

    private let store: any ClientDeveloperStore
    private let actor: Actor
    private let ownerLimit: Int
    private let unapproved: NewClientApproval
    private let notices: (any AccountNotices)?
    private let time: Date
    private let count: @Sendable ([AuditEvent]) -> Void

    /// Creates the changes for one command or request.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - actor: The origin of the changes.
    ///   - ownerLimit: The maximum number of clients that a new owner can have.
    ///   - unapproved: The setting for new clients, which applies to a client that a user hands over.
    ///   - notices: The creator of the notices to the user; nil without mail.
    ///   - time: The time of the changes, by the clock of the store.
    ///   - count: Counts the events that a commit has appended.
    package init(
        _ store: any ClientDeveloperStore, by actor: Actor, ownerLimit: Int = .max,
        unapproved: NewClientApproval, notifying notices: (any AccountNotices)?, at time: Date,
        counting count: @escaping @Sendable ([AuditEvent]) -> Void = { _ in }
    ) {
        self.store = store
        self.actor = actor
        self.ownerLimit = ownerLimit
        self.unapproved = unapproved
        self.notices = notices
        self.time = time
        self.count = count
    }

    /// Adds a user without a question, which only an administrator, a command and a token may do.
    package func add(_ user: User, to client: ClientIdentifier) async throws -> ClientDeveloperOutcome {
        // A notice counts against its limit before the commit, so a change of nothing must cause none.
        guard user.disabledAt == nil, try await !store.isDeveloper(user.id, of: client) else { return .unchanged }
        return try await change(.add(user.id), of: client, .appAdded, to: user)
    }

    /// Asks the user with a name to manage a client.
    ///
    /// The record of the client is the same if there is no such user, or if the user cannot be asked.
    package func ask(
        _ name: Username, _ user: User?, to client: ClientIdentifier
    ) async throws -> ClientDeveloperOutcome {
        let open = try await store.clientQuestions(of: client, at: time)
        guard open.count < ClientDeveloper.questionLimit || open.contains(where: { $0.username == name }) else {
            return .tooManyQuestions
        }
        if let user, user.disabledAt == nil {
            guard try await !store.isDeveloper(user.id, of: client) else { return .unchanged }
            let outcome = try await change(.invite(name, user.id), of: client, .appInvited, to: user)
            guard outcome == .tooMany else { return outcome }
        }
        let asked = event(AuditEvent.otherAccountPrefix + AccountChange.appInvited.detail, client)
        return try await commit(.invite(name, nil), of: client, [asked])
    }

    /// Withdraws the question to the user with a name.
    package func withdraw(
        _ name: Username, from client: ClientIdentifier
    ) async throws(StoreFault) -> ClientDeveloperOutcome {
        try await commit(.withdraw(name), of: client, [event("withdrew a question to manage the app", client)])
    }

    /// Takes a client from a user who manages it or is asked to; the user can be the one who makes the change.
    package func remove(_ user: User, from client: ClientIdentifier) async throws -> ClientDeveloperOutcome {
        if isSelf(user) { return try await commit(.remove(user.id), of: client, [event("left the app", client)]) }
        guard try await store.isDeveloper(user.id, of: client) else {
            return try await withdraw(user.username, from: client)
        }
        return try await change(.remove(user.id), of: client, .appRemoved, to: user)
    }

    /// Gives a client, as it was read, to a user who manages it, as its new owner.
    ///
    /// The decisions of administrators are about the former owner, too. They end as after any change by a developer,
    /// unless an administrator hands the client over.
    package func handOver(_ client: RegisteredClient, to user: User) async throws -> ClientDeveloperOutcome {
        guard try await store.isDeveloper(user.id, of: client.id) else { return .unchanged }
        var given = client
        given.owner = user.id
        given = given.settled(
            after: client, byAdministrator: authority == .administration, unapproved: unapproved)
        let access = MachineAccessChange(from: client, to: given).map { event(.machineAccess, $0.detail, client.id) }
        return try await change(
            .handOver(to: user.id, client: given, ownerLimit: ownerLimit), of: client.id, .appReceived, to: user,
            besides: [access].compactMap(\.self))
    }

    /// Accepts the invitation of the user who makes the change.
    package func accept(_ client: ClientIdentifier) async throws(StoreFault) -> ClientDeveloperOutcome {
        guard case .user(let user, _, _) = actor else { return .notAllowed }
        return try await commit(.accept(user.id), of: client, [event("accepted to manage the app", client)])
    }

    /// Declines the invitation of the user who makes the change.
    package func decline(_ client: ClientIdentifier) async throws(StoreFault) -> ClientDeveloperOutcome {
        guard case .user(let user, _, _) = actor else { return .notAllowed }
        return try await commit(.remove(user.id), of: client, [event("declined to manage the app", client)])
    }

    private var authority: ClientDeveloperAuthority {
        switch actor {
        case .command, .user(_, _, isAdministrator: true), .token: .administration
        case .user(let user, _, isAdministrator: false): .user(user.id)
        }
    }

    private func isSelf(_ user: User) -> Bool {
        switch actor {
        case .command, .token(nil, _, _): false
        case .user(let actor, _, _), .token(let actor?, _, _): actor.id == user.id
        }
    }

    private func change(
        _ change: ClientDeveloperChange, of client: ClientIdentifier, _ told: AccountChange, to user: User,
        besides others: [AuditEvent] = []
    ) async throws -> ClientDeveloperOutcome {
        let notice = try await notices?.notice(of: told, to: user, from: nil, in: .standard, now: time)
        let ofUser: AuditEvent
        switch actor {
        case .command:
            ofUser = AuditEvent(
                at: time, told.kind, userID: user.id, clientID: client, detail: AuditEvent.commandPrefix + told.detail)
        case .user(_, let request, _), .token(_, _, let request):
            // The user can read the event, so it does not have the source of another user.
            ofUser = AuditEvent(
                at: time, told.kind, userID: user.id, clientID: client,
                source: isSelf(user) ? request.source : nil, requestID: request.id, detail: told.detail)
        }
        return try await commit(
            change, of: client,
            [ofUser.notifying(by: notice), event(AuditEvent.otherAccountPrefix + told.detail, client)] + others)
    }

    /// Creates the event about the client, with the user who makes the change.
    private func event(_ detail: String, _ client: ClientIdentifier) -> AuditEvent { event(.client, detail, client) }

    private func event(_ kind: AuditEvent.Kind, _ detail: String, _ client: ClientIdentifier) -> AuditEvent {
        switch actor {
        case .command: AuditEvent(at: time, kind, clientID: client, detail: AuditEvent.commandPrefix + detail)
        case .user(let user, let request, _):
            AuditEvent(
                at: time, kind, userID: user.id, clientID: client, source: request.source, requestID: request.id,
                detail: detail)
        case .token(let user, let caller, let request):
            AuditEvent(
                at: time, kind, userID: user?.id, clientID: client, source: request.source, requestID: request.id,
                detail: "with the app \(caller): \(detail)")
        }
    }

    private func commit(
        _ change: ClientDeveloperChange, of client: ClientIdentifier, _ events: [AuditEvent]
    ) async throws(StoreFault) -> ClientDeveloperOutcome {
        let outcome = try await store.changeDevelopers(
            of: client, change, by: authority, at: time, recording: events)
        if outcome.isCommitted { count(events) }
        return outcome
    }
}

extension ServerComponents {
    /// Returns the changes that a signed-in user makes in one request.
    package func team(of user: User, in request: IncomingRequest, now: Date) -> ClientTeam {
        ClientTeam(
            store, by: .user(user, request, isAdministrator: user.may(.writeClients)),
            ownerLimit: user.may(.writeClients) ? .max : settings.clientsPerDeveloper,
            unapproved: settings.newClients, notifying: auditor.notices, at: now,
            counting: { [auditor] in auditor.countRecorded($0) })
    }
}
