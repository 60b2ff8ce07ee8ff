package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore
package import CounterfoilTokens
package import Foundation

extension AuditStore {
    /// Deletes the oldest events, with the server key of tests.
    package func removeAudit(
        through position: AuditPosition, atMost rows: Int, recording event: AuditEvent?, at time: Date
    ) async throws -> Int {
        try await removeAudit(
            through: position, atMost: rows, recording: event, with: TestSigningKeys.serverKey, at: time)
    }
}

/// Commits without an event in the audit log, for tests of the change alone.
extension BrandingStore {
    package func updateBranding(_ branding: Branding, logo: LogoChange) async throws(StoreFault)
        -> UpdateBrandingOutcome
    {
        try await updateBranding(branding, logo: logo, recording: [])
    }
}

extension ClientStore {
    package func addClient(_ client: RegisteredClient, logo: Logo?, secret: ClientSecretRecord?, ownerLimit: Int)
        async throws(StoreFault) -> AddClientOutcome
    {
        try await addClient(client, logo: logo, secret: secret, ownerLimit: ownerLimit, recording: [])
    }

    package func updateClient(_ client: RegisteredClient, logo: LogoChange) async throws(StoreFault)
        -> UpdateClientOutcome
    {
        try await updateClient(client, logo: logo, recording: [])
    }

    @discardableResult
    package func removeClient(_ id: ClientIdentifier) async throws(StoreFault) -> Bool {
        try await removeClient(id, recording: [])
    }

    package func addClientSecret(_ secret: ClientSecretRecord) async throws(StoreFault) -> AddClientSecretOutcome {
        try await addClientSecret(secret, recording: [])
    }

    @discardableResult
    package func removeClientSecret(_ digest: ArtefactDigest, of id: ClientIdentifier) async throws(StoreFault) -> Bool
    {
        try await removeClientSecret(digest, of: id, recording: [])
    }
}

extension ConsentStore {
    package func narrowConsent(
        of user: UserIdentifier, to client: ClientIdentifier, keeping kept: Scope, at time: Date
    ) async throws(StoreFault) -> NarrowConsentOutcome {
        try await narrowConsent(of: user, to: client, keeping: kept, at: time, recording: [])
    }
}

extension DeviceAuthorizationStore {
    package func denyDevice(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> DenyDeviceOutcome {
        try await denyDevice(digest, at: time, recording: [])
    }
}

extension GrantStore {
    @discardableResult
    package func settleRedemptions(_ settlements: [RedemptionSettlement], at time: Date) async throws(StoreFault)
        -> [RevokedGrant]
    {
        try await settleRedemptions(
            settlements, at: time,
            recording: {
                AuditEvent(at: time, .revocation, userID: $0.userID, clientID: $0.clientID, grantID: $0.id)
            })
    }

    @discardableResult
    package func revokeGrant(_ id: GrantIdentifier, because reason: RevocationReason, at time: Date)
        async throws(StoreFault) -> RevokeGrantOutcome
    {
        try await revokeGrant(id, because: reason, at: time, recording: [])
    }
}

extension SecondFactorStore {
    /// Adds a second factor with an authenticator app.
    package func addSecondFactor(
        _ factor: SecondFactor, recoveryCodes: [ArtefactDigest], keeping kept: ArtefactDigest?,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSecondFactorOutcome {
        try await addSecondFactor(factor, recoveryCodes: recoveryCodes, key: nil, keeping: kept, recording: events)
    }
}

extension UserStore {
    package func addUser(_ user: User) async throws(StoreFault) -> AddUserOutcome {
        try await addUser(user, recording: [])
    }

    package func addFirstOwner(_ user: User) async throws(StoreFault) -> AddUserOutcome {
        try await addFirstOwner(user, recording: [])
    }

    package func updateUser(_ user: User, at time: Date) async throws(StoreFault) -> UpdateUserOutcome {
        try await updateUser(user, at: time, recording: [])
    }

    /// Updates a user, whatever was changed meanwhile.
    package func updateUser(
        _ user: User, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUserOutcome {
        let former = try await self.user(user.id)
        return try await updateUser(user, from: former ?? user, at: time, recording: events)
    }

    /// Reads at most `limit` users after a username.
    package func users(after username: Username?, limit: Int) async throws(StoreFault) -> [User] {
        try await users(matching: UserQuery(after: username, limit: limit)).users.map(\.user)
    }

    package func changePassword(
        of user: UserIdentifier, from former: PasswordHash?, to new: PasswordHash?, keeping session: ArtefactDigest?,
        at time: Date
    ) async throws(StoreFault) -> ChangePasswordOutcome {
        try await changePassword(of: user, from: former, to: new, keeping: session, at: time, recording: [])
    }
}

extension RefreshTokenStore {
    package func recordRefresh(_ facts: RefreshFacts, _ step: RefreshStep, attempt: CommitAttempt, now: Date)
        async throws(StoreFault) -> RecordRefreshOutcome
    {
        try await recordRefresh(facts, step, attempt: attempt, now: now, recording: [])
    }
}

extension ResourceStore {
    package func addResource(_ resource: RegisteredResource) async throws(StoreFault) -> AddResourceOutcome {
        try await addResource(resource, recording: [])
    }

    package func updateResource(_ resource: RegisteredResource, from former: RegisteredResource)
        async throws(StoreFault) -> UpdateResourceOutcome
    {
        try await updateResource(resource, from: former, recording: [])
    }

    @discardableResult
    package func replaceSecret(of resource: Resource, with secret: ArtefactDigest) async throws(StoreFault) -> Bool {
        try await replaceSecret(of: resource, with: secret, recording: [])
    }

    @discardableResult
    package func removeResource(_ resource: Resource) async throws(StoreFault) -> Bool {
        try await removeResource(resource, recording: [])
    }
}

extension ScopeStore {
    package func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome {
        try await addScope(scope, recording: [])
    }

    package func updateScope(_ scope: ScopeDefinition, from former: ScopeDefinition) async throws(StoreFault)
        -> UpdateScopeOutcome
    {
        try await updateScope(scope, from: former, recording: [])
    }

    package func removeScope(_ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date)
        async throws(StoreFault) -> RemoveScopeOutcome
    {
        try await removeScope(token, takingFromUses: takesFromUses, at: time, recording: { _ in [] })
    }
}

extension SessionStore {
    package func beginSession(_ session: Session, proving proof: SignInProof, replacing former: ArtefactDigest?)
        async throws(StoreFault) -> BeginSessionOutcome
    {
        try await beginSession(session, proving: proof, replacing: former, recording: [])
    }

    @discardableResult
    package func endSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> Bool {
        try await endSession(digest, at: time, recording: [])
    }

    package func endSession(_ digest: ArtefactDigest, of user: UserIdentifier, at time: Date)
        async throws(StoreFault) -> Bool
    {
        try await endSession(digest, of: user, at: time, recording: [])
    }

    @discardableResult
    package func signOutEverywhere(_ user: UserIdentifier, except kept: ArtefactDigest?, at time: Date)
        async throws(StoreFault) -> Int
    {
        try await signOutEverywhere(user, except: kept, at: time, recording: [])
    }
}

extension CertificateOrderStore {
    package func requestRenewal() async throws(StoreFault) { _ = try await requestRenewal(recording: []) }
}

extension SigningKeyStore {
    package func addFirstSigningKey(_ key: SealedSigningKey) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await addFirstSigningKey(key, recording: [])
    }

    package func addSigningKey(_ key: SealedSigningKey, replacing former: KeyIdentifier) async throws(StoreFault)
        -> AddSigningKeyOutcome
    {
        try await addSigningKey(key, replacing: former, recording: [])
    }

    package func removeSigningKey(_ id: KeyIdentifier) async throws(StoreFault) -> Bool {
        try await removeSigningKey(id, recording: [])
    }

    @discardableResult
    package func removeSigningKeys(replacedBefore time: Date) async throws(StoreFault) -> Int {
        try await removeSigningKeys(replacedBefore: time, recording: { _ in [] })
    }
}

extension UnregisteredClientStore {
    package func updateUnregisteredClientPolicy(_ policy: UnregisteredClientPolicy) async throws(StoreFault)
        -> UpdateUnregisteredClientPolicyOutcome
    {
        try await updateUnregisteredClientPolicy(policy, recording: [])
    }

    package func addSelfRegisteredClient(_ client: RegisteredClient, secret: ClientSecretRecord?, unusedLimit: Int)
        async throws(StoreFault) -> AddClientOutcome
    {
        try await addSelfRegisteredClient(client, secret: secret, unusedLimit: unusedLimit, recording: [])
    }

    package func addInitialAccessToken(_ token: InitialAccessToken) async throws(StoreFault) {
        try await addInitialAccessToken(token, recording: [])
    }

    @discardableResult
    package func removeInitialAccessToken(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool {
        try await removeInitialAccessToken(digest, recording: [])
    }
}

extension UnregisteredClientUseStore {
    @discardableResult
    package func removeUnregisteredClient(_ id: ClientIdentifier) async throws(StoreFault) -> Bool {
        try await removeUnregisteredClient(id, recording: [])
    }

    package func removeUnregisteredClients(of family: UnregisteredClientFamily, atMost limit: Int)
        async throws(StoreFault) -> Int
    {
        try await removeUnregisteredClients(of: family, atMost: limit, recording: { _ in [] })
    }
}

extension UserStore {
    /// Deletes a user, and records one event.
    package func beginRemoval(
        of user: UserIdentifier, by terms: RemovalTerms, recording event: AuditEvent, at time: Date
    ) async throws(StoreFault) -> BeginRemovalOutcome {
        try await beginRemoval(of: user, by: terms, recording: { _ in [event] }, at: time)
    }
}

extension KeyRotation {
    /// Creates a key, and records no event.
    package func rotate(
        _ algorithm: SigningAlgorithm, _ beginning: Beginning = .afterNotice, now: Date
    ) async throws -> SealedSigningKey? {
        try await rotate(algorithm, beginning, recording: { _ in [] }, now: now)
    }
}
