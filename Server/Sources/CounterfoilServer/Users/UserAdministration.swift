package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The changes of accounts that administrators make, on pages and at the command line.
///
/// Each change is one commit with its events. The rules of roles are here, and the others in the store, so a page, an
/// operation of the API and a command cannot differ. A command needs no role.
///
/// A change of an account is judged by the role that the account has when it is read. The commit depends on this role,
/// because another administrator can give the user a stronger one meanwhile.
package struct UserAdministration: Sendable {
    /// The numbers of hours for which a link for a new password can work.
    package static let linkHours = 1...168

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

    /// Checks that the actor may change the account of a user, and may see everything that is stored about the user.
    ///
    /// The way into an account leads to its rights. No one therefore acts on an account with a right that the request
    /// lacks, not even on the own one with a token.
    ///
    /// - Returns: The role on which the change depends; nil if the actor may change the account with any role.
    /// - Throws: ``RoleRefusal``.
    @discardableResult
    package func check(actingOn user: UserIdentifier) async throws -> UserQuery.Role? {
        // An owner acts on every account, even if this version does not know its role.
        guard let held = try rights(with: .writeUsers), !held.isOfOwner else { return nil }
        let role = try check(actingOnAccountWith: try await store.user(user)?.role)
        try await check(actingOnClientsOf: user)
        return role
    }

    /// Returns the reason why the actor may not change the account of a user; nil if it may.
    package func refusal(actingOn user: User) async throws -> RoleRefusal? {
        do {
            _ = try await check(actingOn: user)
            return nil
        } catch let refusal as RoleRefusal { return refusal }
    }

    /// Checks that the actor may change the account of a user, and returns the role on which the change depends.
    private func check(actingOn user: User) async throws -> UserQuery.Role? {
        let role = try check(actingOnAccountWith: user.role)
        try await check(actingOnClientsOf: user.id)
        return role
    }

    /// Checks that the actor has each right of the administration that is approved for a service of the user.
    ///
    /// The way into the account leads to a new secret of the service, and so to its tokens.
    private func check(actingOnClientsOf user: UserIdentifier) async throws {
        guard let held = try rights(with: .writeUsers) else { return }
        let approved = Set(try await store.administrationScope(ofClientsOf: user).tokens.compactMap(\.right))
        guard approved.isSubset(of: held.rights) else { throw RoleRefusal.strongerClients(approved) }
    }

    /// Checks that the actor may give a role, or withdraw it.
    ///
    /// - Throws: ``RoleRefusal``.
    package func check(assigning role: UserRole) throws(RoleRefusal) {
        guard let held = try rights(with: .writeRoles), !held.mayAssign(role) else { return }
        throw .unassignable(role)
    }

    /// Returns the rights of the actor, if a right is among them; nil for a command, which needs none.
    private func rights(with right: AdministrationRight) throws(RoleRefusal) -> HeldRights? {
        guard let held = actor.rights else { return nil }
        guard held.rights.contains(right) else { throw .lacksRight(right) }
        return held
    }

    /// Checks that the actor may change an account with a role, and returns the role on which the change depends.
    private func check(actingOnAccountWith role: UserRole?) throws(RoleRefusal) -> UserQuery.Role? {
        guard let held = try rights(with: .writeUsers), !held.isOfOwner else { return nil }
        if let role, !held.mayAct(onAccountWith: role) { throw .strongerAccount(role) }
        return role.map(UserQuery.Role.role) ?? .noRole
    }

    /// Adds an account.
    package func add(_ user: User) async throws -> AddUserOutcome {
        _ = try rights(with: .writeUsers)
        if let role = user.role { try check(assigning: role) }
        let detail = user.role.map { "created with the role \($0.rawValue)" } ?? "created"
        return try await change(.account, .userCreated, of: user.id, detail) { events throws(StoreFault) in
            try await store.addUser(user, recording: events)
        }
    }

    /// Adds accounts of another server in one commit, or tells only what that would do.
    ///
    /// The caller has checked the roles (``check(assigning:)``).
    func importUsers(_ users: [ImportedUser], isTrial: Bool) async throws -> [ImportUserOutcome] {
        _ = try rights(with: .writeUsers)
        for role in Set(users.compactMap(\.user.role)) { try check(assigning: role) }
        guard !isTrial else { return try await store.outcomes(ofImporting: users) }
        let events: @Sendable (User) -> [AuditEvent] = { [actor, time] user in
            let detail = user.role.map { "imported with the role \($0.rawValue)" } ?? "imported"
            return actor.events(.account, .userCreated, of: user.id, detail: detail, at: time)
        }
        let outcomes = try await store.importUsers(users, recording: events)
        for (imported, outcome) in zip(users, outcomes) where outcome == .added { count(events(imported.user)) }
        return outcomes
    }

    /// Changes the display name, the email address and the profile of an account, if they still are as they were read.
    ///
    /// The notice of a changed address goes to the former one.
    package func update(_ user: User, from former: User) async throws -> UpdateUserOutcome {
        _ = try await check(actingOn: former)
        let isSameAddress = user.email == former.email
        let notice = isSameAddress ? nil : try await notice(of: .emailChanged, to: former)
        let detail = isSameAddress ? "changed" : AccountChange.emailChanged.detail
        let action = isSameAddress ? nil : AccountChange.emailChanged.action
        return try await change(.account, action, of: user.id, detail, notifying: notice) { events throws(StoreFault) in
            try await store.updateUser(user, from: former, at: time, recording: events)
        }
    }

    /// Changes an account as ``update(_:from:)`` does, and disables or enables it in the same commit, unless no other
    /// owner could sign in.
    package func provision(_ user: User, from former: User) async throws -> ProvisionUserOutcome {
        _ = try await check(actingOn: former)
        let isSameAddress = user.email == former.email
        let notice = isSameAddress ? nil : try await notice(of: .emailChanged, to: former)
        var events: [AuditEvent] = []
        func record(_ action: AuditEvent.Action?, _ detail: String) {
            events += actor.events(.account, action, of: user.id, detail: detail, at: time)
        }
        if !isSameAddress {
            record(AccountChange.emailChanged.action, AccountChange.emailChanged.detail)
            events[0] = events[0].notifying(by: notice)
        }
        if user.disabledAt != nil, former.disabledAt == nil { record(.userDisabled, "disabled") }
        if user.disabledAt == nil, former.disabledAt != nil { record(.userEnabled, "enabled") }
        var others = user
        (others.email, others.disabledAt) = (former.email, former.disabledAt)
        others.profile.isEmailVerified = former.profile.isEmailVerified
        if others != former { record(nil, "changed") }
        let outcome = try await store.provisionUser(user, from: former, at: time, recording: events)
        if outcome.isCommitted { count(events) }
        return outcome
    }

    /// Changes the groups and attributes of an account, if they still are as they were read.
    package func changeAttributes(
        of user: UserIdentifier, from former: UserAttributes, to attributes: UserAttributes
    ) async throws -> UpdateUserOutcome {
        let role = try await check(actingOn: user)
        return try await change(.account, nil, of: user, attributes.difference(from: former)) {
            events throws(StoreFault) in
            try await store.replaceAttributes(
                of: user, requiredRole: role, from: former, by: attributes, at: time, recording: events)
        }
    }

    /// Disables an account, which ends its sessions, unless no other owner could sign in.
    package func disable(_ user: UserIdentifier) async throws -> ChangeStandingOutcome {
        let role = try await check(actingOn: user)
        return try await change(.account, .userDisabled, of: user, "disabled") { events throws(StoreFault) in
            try await store.disableUser(user, requiredRole: role, at: time, recording: events)
        }
    }

    /// Enables an account.
    package func enable(_ user: UserIdentifier) async throws -> ChangeStandingOutcome {
        try await check(actingOn: user)
        return try await change(.account, .userEnabled, of: user, "enabled") { events throws(StoreFault) in
            try await store.enableUser(user, at: time, recording: events)
        }
    }

    /// Gives a user another role, or none, unless no other owner could sign in.
    ///
    /// The change depends on the role that the rules have judged.
    package func setRole(_ role: UserRole?, of user: UserIdentifier) async throws -> ChangeStandingOutcome {
        _ = try rights(with: .writeRoles)
        guard let former = try await store.user(user) else { return .notFound }
        guard former.role != role else { return .unchanged }
        for changed in [former.role, role].compactMap(\.self) { try check(assigning: changed) }
        let names = [former.role, role].map { $0?.rawValue ?? "none" }
        return try await change(
            .account, .userRoleChanged, of: user, AuditEvent.rolePrefix + "from \(names[0]) to \(names[1])"
        ) {
            events throws(StoreFault) in
            try await store.setRole(role, of: user, from: former.role, at: time, recording: events)
        }
    }

    /// Ends every session of a user and every grant that was given in one.
    package func signOutEverywhere(_ user: UserIdentifier) async throws {
        try await check(actingOn: user)
        let events = actor.events(.signOut, of: user, detail: "all sessions", at: time)
        try await store.signOutEverywhere(user, except: nil, at: time, recording: events)
        count(events)
    }

    /// Ends one session of a user; returns false if the user has no such session.
    package func endSession(_ digest: ArtefactDigest, of user: UserIdentifier) async throws -> Bool {
        try await check(actingOn: user)
        return try await change(.signOut, nil, of: user, "another session") { events throws(StoreFault) in
            try await store.endSession(digest, of: user, at: time, recording: events)
        }
    }

    /// Ends one sign-in of an app; returns false if the user has no such sign-in, or it has ended.
    package func endAppSignIn(_ id: GrantIdentifier, of user: UserIdentifier) async throws -> Bool {
        try await check(actingOn: user)
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
    ) async throws -> (url: String, expires: Date)? {
        guard let former = try await store.user(user) else { return nil }
        let role = try await check(actingOn: former)
        let secret = MailLinkSecret()
        let expires = time.addingTimeInterval(TimeInterval(hours) * 3600)
        let link = UserLink(
            digest: ArtefactDigest(ofUserLink: secret), userID: user, origin: .operator, expires: expires,
            requiredRole: role)
        let events = actor.events(
            .account, .userLinkCreated, of: user, detail: "created a link for a new password", at: time)
        guard try await store.addUserLink(link, sending: nil, recording: events) == .added else {
            // The user may have got a stronger role meanwhile.
            try await check(actingOn: user)
            return nil
        }
        count(events)
        return (issuer.endpoint(Endpoint.recovery.path) + "?token=" + secret.exposed, expires)
    }

    /// Sets a password, which ends every session; a temporary one must be changed at the next sign-in.
    package func setPassword(
        _ hash: PasswordHash, isTemporary: Bool, of user: User
    ) async throws -> ResetPasswordOutcome {
        let role = try await check(actingOn: user)
        let reset = PasswordReset(
            of: user, by: .operator(isTemporary: isTemporary, requiredRole: role), to: hash)
        let outcome = try await change(isTemporary ? .temporaryPasswordSet : .passwordSet, of: user) {
            events throws(StoreFault) in try await store.resetPassword(reset, at: time, recording: events)
        }
        if outcome == .permissionOutdated { try await check(actingOn: user.id) }
        return outcome
    }

    /// Deletes one passkey of a user, unless it is the last way in.
    package func removePasskey(_ digest: ArtefactDigest, of user: User) async throws -> RemovePasskeyOutcome {
        let role = try await check(actingOn: user)
        // A notice counts against its limit before the commit, so a passkey that stays must cause none.
        let passkeys = try await store.passkeys(of: user.id)
        guard passkeys.contains(where: { $0.digest == digest }) else { return .notFound }
        let isLost = try await store.secondFactor(of: user.id) == .lost
        let ways = WaysIn(hasPassword: user.passwordHash != nil && !isLost, passkeys: passkeys.count)
        guard ways.allows(.passkey) else { return .neededAsWayIn }
        let outcome = try await change(.passkeyRemoved, of: user) { events throws(StoreFault) in
            try await store.removePasskey(
                digest, of: user.id, requiredRole: role, countingIdentitiesOf: [], recording: events)
        }
        if outcome == .notFound { try await check(actingOn: user.id) }
        return outcome
    }

    /// Deletes every passkey of a user.
    package func removePasskeys(of user: User) async throws {
        let role = try await check(actingOn: user)
        // A notice counts against its limit before the commit, so a user without a passkey must cause none.
        guard try await !store.passkeys(of: user.id).isEmpty else { return }
        let isRemoved = try await change(.passkeysRemoved, of: user) { events throws(StoreFault) in
            try await store.removePasskeys(of: user.id, requiredRole: role, recording: events)
        }
        if !isRemoved { try await check(actingOn: user.id) }
    }

    /// Removes the second factor of a user with its recovery codes; returns false if the user has none.
    package func resetSecondFactor(of user: User) async throws -> Bool {
        let role = try await check(actingOn: user)
        guard try await store.secondFactor(of: user.id) != .none else { return false }
        let isReset = try await change(.secondFactorReset, of: user) { events throws(StoreFault) in
            try await store.resetSecondFactor(of: user.id, requiredRole: role, recording: events)
        }
        if !isReset { try await check(actingOn: user.id) }
        return isReset
    }

    /// Records that the stored data of a user were exported, before anyone gets them.
    ///
    /// - Throws: ``RoleRefusal`` if the actor may not act on the account, which an export shows as a whole.
    package func noteExport(of user: UserIdentifier) async throws {
        try await check(actingOn: user)
        let events = actor.events(.account, of: user, detail: "exported", at: time)
        for event in events { try await store.appendAudit(event) }
        count(events)
    }

    /// Deletes a user.
    ///
    /// Records whose number has no limit are left to ``UserStore/continueRemovals(atMost:)``, which a command calls
    /// next, and the maintenance of a server within a minute.
    /// To delete clients, or to give them to another user, the actor needs the right to change clients.
    ///
    /// - Returns: The outcome, and the pseudonym of the user in the audit log.
    package func delete(
        _ user: UserIdentifier, ownedClients: RemovalTerms.OwnedClients
    ) async throws -> (outcome: BeginRemovalOutcome, pseudonym: UserIdentifier) {
        let role = try await check(actingOn: user)
        if ownedClients != .refuse { _ = try rights(with: .writeClients) }
        let terms = try RemovalTerms(of: user, with: serverKey, ownedClients: ownedClients, requiredRole: role)
        let owner: UserIdentifier? = if case .transfer(let owner) = ownedClients { owner } else { nil }
        let events: @Sendable ([ClientIdentifier]) -> [AuditEvent] = { [actor, time] clients in
            actor.events(ofDeletionOf: user, as: terms.pseudonym, at: time)
                + actor.events(ofClients: clients, of: user, givenTo: owner, at: time)
        }
        let outcome = try await store.beginRemoval(of: user, by: terms, recording: events, at: time)
        switch outcome {
        case .begun(let clients): count(events(clients))
        case .notFound: try await check(actingOn: user)
        case .lastOwner, .ownsClients, .newOwnerNotFound: break
        }
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
        by administrator: User, in request: IncomingRequest, now: Date
    ) -> UserAdministration {
        administration(by: .administrator(administrator, request), now: now)
    }

    /// Returns the changes of accounts that a party makes in one request.
    func administration(by actor: AccountActor, now: Date) -> UserAdministration {
        UserAdministration(
            store, serverKey: serverKey, by: actor, notifying: auditor.notices,
            at: now, counting: { [auditor] in auditor.countRecorded($0) })
    }
}
