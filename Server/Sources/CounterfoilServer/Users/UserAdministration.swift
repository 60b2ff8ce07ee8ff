package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The changes of accounts that administrators make, on pages and at the command line.
///
/// Each change is one commit with its events. The rules are those of the store, so a page and a command cannot differ.
package struct UserAdministration: Sendable {
    private let store: any UncachedStore
    private let serverKey: ServerKey
    private let actor: AccountActor
    private let notices: (any AccountNotices)?
    private let time: Date
    private let count: @Sendable ([AuditEvent]) -> Void

    /// Creates the changes for one command or request.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - serverKey: The key for the pseudonym of a deleted user.
    ///   - actor: The origin of the changes.
    ///   - notices: The creator of the notices to the user; nil without mail.
    ///   - time: The time of the changes, by the clock of the store.
    ///   - count: Counts the events that a commit has appended.
    package init(
        _ store: any UncachedStore, serverKey: ServerKey, by actor: AccountActor,
        notifying notices: (any AccountNotices)?, at time: Date,
        counting count: @escaping @Sendable ([AuditEvent]) -> Void = { _ in }
    ) {
        self.store = store
        self.serverKey = serverKey
        self.actor = actor
        self.notices = notices
        self.time = time
        self.count = count
    }

    /// Adds an account.
    package func add(_ user: User) async throws(StoreFault) -> AddUserOutcome {
        try await change(
            .account, .userCreated, of: user.id, user.isAdministrator ? "created as an administrator" : "created"
        ) {
            events throws(StoreFault) in try await store.addUser(user, recording: events)
        }
    }

    /// Changes the display name, the email address and the profile of an account, if they still are as they were read.
    ///
    /// The notice of a changed address goes to the former one.
    package func update(_ user: User, from former: User) async throws -> UpdateUserOutcome {
        let isSameAddress = user.email == former.email
        let notice = isSameAddress ? nil : try await notice(of: .emailChanged, to: former)
        let detail = isSameAddress ? "changed" : AccountChange.emailChanged.detail
        let action = isSameAddress ? nil : AccountChange.emailChanged.action
        return try await change(.account, action, of: user.id, detail, notifying: notice) { events throws(StoreFault) in
            try await store.updateUser(user, from: former, at: time, recording: events)
        }
    }

    /// Disables an account, which ends its sessions, unless no other administrator could sign in.
    package func disable(_ user: UserIdentifier) async throws(StoreFault) -> ChangeStandingOutcome {
        try await change(.account, .userDisabled, of: user, "disabled") { events throws(StoreFault) in
            try await store.disableUser(user, at: time, recording: events)
        }
    }

    /// Enables an account.
    package func enable(_ user: UserIdentifier) async throws(StoreFault) -> ChangeStandingOutcome {
        try await change(.account, .userEnabled, of: user, "enabled") { events throws(StoreFault) in
            try await store.enableUser(user, at: time, recording: events)
        }
    }

    /// Gives a user the rights of an administrator, or takes them away unless no other administrator could sign in.
    package func setAdministrator(
        _ isAdministrator: Bool, of user: UserIdentifier
    ) async throws(StoreFault) -> ChangeStandingOutcome {
        try await change(
            .account, .userRoleChanged, of: user,
            isAdministrator ? "made an administrator" : "is no administrator any more"
        ) { events throws(StoreFault) in
            try await store.setAdministrator(isAdministrator, of: user, at: time, recording: events)
        }
    }

    /// Ends every session of a user and every grant that was given in one.
    package func signOutEverywhere(_ user: UserIdentifier) async throws(StoreFault) {
        let events = actor.events(.signOut, of: user, detail: "all sessions", at: time)
        try await store.signOutEverywhere(user, except: nil, at: time, recording: events)
        count(events)
    }

    /// Ends one session of a user; returns false if the user has no such session.
    package func endSession(_ digest: ArtefactDigest, of user: UserIdentifier) async throws(StoreFault) -> Bool {
        try await change(.signOut, nil, of: user, "another session") { events throws(StoreFault) in
            try await store.endSession(digest, of: user, at: time, recording: events)
        }
    }

    /// Ends one sign-in of an app; returns false if the user has no such sign-in, or it has ended.
    package func endAppSignIn(_ id: GrantIdentifier, of user: UserIdentifier) async throws(StoreFault) -> Bool {
        guard let grant = try await store.grant(id), grant.userID == user else { return false }
        let events = actor.events(.revocation, of: user, grant: grant, detail: "sign-in of an app", at: time)
        let outcome = try await store.revokeGrant(id, of: user, because: .user, at: time, recording: events)
        guard outcome == .revoked else { return false }
        count(events)
        return true
    }

    /// Creates a link by which a user sets a new password; returns nil if the user does not exist or is disabled.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - hours: The hours until the link expires.
    ///   - issuer: The issuer of the server that answers the link.
    package func createLink(
        for user: UserIdentifier, hours: Int, at issuer: Issuer
    ) async throws(StoreFault) -> (url: String, expires: Date)? {
        let secret = MailLinkSecret()
        let expires = time.addingTimeInterval(TimeInterval(hours) * 3600)
        let link = UserLink(
            digest: ArtefactDigest(ofUserLink: secret), userID: user, origin: .operator, expires: expires)
        let events = actor.events(
            .account, .userLinkCreated, of: user, detail: "created a link for a new password", at: time)
        guard try await store.addUserLink(link, sending: nil, recording: events) == .added else { return nil }
        count(events)
        return (issuer.endpoint(Endpoint.recovery.path) + "?token=" + secret.exposed, expires)
    }

    /// Deletes one passkey of a user, unless it is the last way in.
    package func removePasskey(_ digest: ArtefactDigest, of user: User) async throws -> RemovePasskeyOutcome {
        // A notice counts against its limit before the commit, so a passkey that stays must cause none.
        let passkeys = try await store.passkeys(of: user.id)
        guard passkeys.contains(where: { $0.digest == digest }) else { return .notFound }
        let isLost = try await store.secondFactor(of: user.id) == .lost
        let ways = WaysIn(hasPassword: user.passwordHash != nil && !isLost, passkeys: passkeys.count)
        guard ways.allows(.passkey) else { return .neededAsWayIn }
        return try await change(.passkeyRemoved, of: user) { events throws(StoreFault) in
            try await store.removePasskey(digest, of: user.id, recording: events)
        }
    }

    /// Removes the second factor of a user with its recovery codes; returns false if the user has none.
    package func resetSecondFactor(of user: User) async throws -> Bool {
        guard try await store.secondFactor(of: user.id) != .none else { return false }
        return try await change(.secondFactorReset, of: user) { events throws(StoreFault) in
            try await store.resetSecondFactor(of: user.id, recording: events)
        }
    }

    /// Deletes a user.
    ///
    /// Records whose number has no limit are left to ``UserStore/continueRemovals(atMost:)``, which a command calls
    /// next, and the maintenance of a server within a minute.
    ///
    /// - Returns: The outcome, and the pseudonym of the user in the audit log.
    package func delete(
        _ user: UserIdentifier, ownedClients: RemovalTerms.OwnedClients
    ) async throws -> (outcome: BeginRemovalOutcome, pseudonym: UserIdentifier) {
        let terms = try RemovalTerms(of: user, with: serverKey, ownedClients: ownedClients)
        let owner: UserIdentifier? = if case .transfer(let owner) = ownedClients { owner } else { nil }
        let events: @Sendable ([ClientIdentifier]) -> [AuditEvent] = { [actor, time] clients in
            actor.events(ofDeletionOf: user, as: terms.pseudonym, at: time)
                + actor.events(ofClients: clients, of: user, givenTo: owner, at: time)
        }
        let outcome = try await store.beginRemoval(of: user, by: terms, recording: events, at: time)
        if case .begun(let clients) = outcome { count(events(clients)) }
        return (outcome, terms.pseudonym)
    }

    private func change<Outcome: CommitOutcome>(
        _ change: AccountChange, of user: User, by commit: ([AuditEvent]) async throws(StoreFault) -> Outcome
    ) async throws -> Outcome {
        let notice = try await notice(of: change, to: user)
        return try await self.change(
            change.kind, change.action, of: user.id, change.detail, notifying: notice, by: commit)
    }

    private func change<Outcome: CommitOutcome>(
        _ kind: AuditEvent.Kind, _ action: AuditEvent.Action?, of user: UserIdentifier, _ detail: String,
        notifying notice: NewMail? = nil, by commit: ([AuditEvent]) async throws(StoreFault) -> Outcome
    ) async throws(StoreFault) -> Outcome {
        var events = actor.events(kind, action, of: user, detail: detail, at: time)
        events[0] = events[0].notifying(by: notice)
        let outcome = try await commit(events)
        if outcome.isCommitted { count(events) }
        return outcome
    }

    private func notice(of change: AccountChange, to user: User) async throws -> NewMail? {
        try await notices?.notice(of: change, to: user, from: nil, in: .standard, now: time)
    }
}

extension ServerComponents {
    /// Returns the changes that an administrator makes in one request.
    package func administration(
        by administrator: UserIdentifier, in request: IncomingRequest, now: Date
    ) -> UserAdministration {
        UserAdministration(
            store, serverKey: serverKey, by: .administrator(administrator, request), notifying: auditor.notices,
            at: now, counting: { [auditor] in auditor.countRecorded($0) })
    }
}
