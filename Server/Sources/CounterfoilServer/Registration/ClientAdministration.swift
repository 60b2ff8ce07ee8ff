package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The changes of clients, on pages, by commands and by the API.
///
/// Each change is one commit with its events. ``ClientRules`` has the rules of a registration and a policy.
package struct ClientAdministration: Sendable {
    private let store: any ClientStore & UnregisteredClientUseStore
    private let time: Date
    private let event: @Sendable (AuditEvent.Kind, UserIdentifier?, ClientIdentifier, String) -> AuditEvent
    private let count: @Sendable ([AuditEvent]) -> Void

    /// Creates the changes for one command or request.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - time: The time of the changes, by the clock of the store.
    ///   - event: Creates an event that names the origin of the change. It gets the user whom the change concerns; nil
    ///     if it concerns none.
    ///   - count: Counts the events that a commit has appended.
    package init(
        _ store: any ClientStore & UnregisteredClientUseStore, at time: Date,
        recording event: @escaping @Sendable (AuditEvent.Kind, UserIdentifier?, ClientIdentifier, String) -> AuditEvent,
        counting count: @escaping @Sendable ([AuditEvent]) -> Void = { _ in }
    ) {
        self.store = store
        self.time = time
        self.event = event
        self.count = count
    }

    /// Registers a client that an administrator has entered, which is approved.
    ///
    /// - Returns: The outcome, and the secret of a confidential client without keys.
    package func register(
        _ client: RegisteredClient, logo: Logo? = nil, random: RandomBytes = RandomBytes()
    ) async throws(StoreFault) -> (outcome: AddClientOutcome, secret: ClientSecret?, record: ClientSecretRecord?) {
        let secret = client.type.isConfidential && client.keys == nil ? ClientSecret(random: random) : nil
        let record = secret.map {
            ClientSecretRecord(digest: ArtefactDigest(of: $0), clientID: client.id, createdAt: time)
        }
        let events =
            events(ofChange: "registered", from: nil, to: client)
            + events(ofOwner: client.owner, after: nil, of: client)
        let outcome = try await store.addClient(
            client, logo: logo, secret: record, ownerLimit: .max, recording: events)
        if outcome == .added { count(events) }
        return (outcome, secret, record)
    }

    /// Changes the registration and the policy of a client, if it still is as it was read.
    package func change(
        _ former: RegisteredClient, to client: RegisteredClient, logo: LogoChange = .keep
    ) async throws(StoreFault) -> UpdateClientOutcome {
        let events =
            events(ofChange: "changed, pkce \(client.policy.pkce)", from: former, to: client)
            + events(ofOwner: client.owner, after: former.owner, of: client)
        let outcome = try await store.updateClient(client, logo: logo, recording: events)
        if outcome == .updated { count(events) }
        return outcome
    }

    /// Stores a decision about a client, which can be unregistered.
    package func decide(
        _ decision: ClientDecision, on id: ClientIdentifier
    ) async throws(StoreFault) -> ClientDecisionOutcome {
        let detail =
            switch decision {
            case .approve: "approved"
            case .suspend(let reason): "suspended: \(reason)"
            case .resume: "resumed"
            }
        let events = [event(.client, nil, id, detail).named(decision.action)]
        let outcome = try await store.decide(decision, on: id, at: time, recording: events)
        if outcome == .decided { count(events) }
        return outcome
    }

    /// Adds a secret to a client.
    package func addSecret(
        to id: ClientIdentifier, random: RandomBytes = RandomBytes()
    ) async throws(StoreFault) -> (outcome: AddClientSecretOutcome, secret: ClientSecret, record: ClientSecretRecord) {
        let secret = ClientSecret(random: random)
        let record = ClientSecretRecord(digest: ArtefactDigest(of: secret), clientID: id, createdAt: time)
        let events = [event(.clientSecret, nil, id, "created").named(.clientSecretCreated)]
        let outcome = try await store.addClientSecret(record, recording: events)
        if outcome == .added { count(events) }
        return (outcome, secret, record)
    }

    /// Deletes a secret of a client; returns false if it was deleted meanwhile.
    package func remove(_ secret: ClientSecretRecord) async throws(StoreFault) -> Bool {
        let events = [event(.clientSecret, nil, secret.clientID, "deleted").named(.clientSecretDeleted)]
        let isRemoved = try await store.removeClientSecret(secret.digest, of: secret.clientID, recording: events)
        if isRemoved { count(events) }
        return isRemoved
    }

    /// Deletes a client that a person registered; returns false if it was deleted meanwhile.
    package func delete(_ id: ClientIdentifier) async throws(StoreFault) -> Bool {
        let events = [event(.client, nil, id, "deleted").named(.clientDeleted)]
        let isDeleted = try await store.removeClient(id, recording: events)
        if isDeleted { count(events) }
        return isDeleted
    }

    /// Deletes an unregistered client; returns false if it was deleted meanwhile, or if it is kept because it is
    /// suspended (`UnregisteredClientUse.isKept`).
    package func deleteUnregistered(_ id: ClientIdentifier) async throws(StoreFault) -> Bool {
        let events = [event(.client, nil, id, "deleted, unregistered").named(.clientDeleted)]
        let isDeleted = try await store.removeUnregisteredClient(id, recording: events)
        if isDeleted { count(events) }
        return isDeleted
    }

    /// Makes the client of a document a registered one, if it still is as it was read.
    package func adopt(
        _ client: RegisteredClient, under policy: UnregisteredClientPolicy, of definitions: [ScopeDefinition]
    ) async throws(StoreFault) -> UpdateClientOutcome {
        let events = [event(.client, nil, client.id, "adopted")]
        let adopted = client.adopted(under: policy, of: definitions, now: time)
        let outcome = try await store.updateClient(adopted, logo: .keep, recording: events)
        if outcome == .updated { count(events) }
        return outcome
    }

    /// The events of a change: the change itself, and the scopes that the client gained or lost for requests without a
    /// user.
    private func events(
        ofChange detail: String, from former: RegisteredClient?, to client: RegisteredClient
    ) -> [AuditEvent] {
        let change = event(.client, nil, client.id, detail).named(former == nil ? .clientCreated : nil)
        guard let access = MachineAccessChange(from: former, to: client) else { return [change] }
        return [change, event(.machineAccess, nil, client.id, access.detail)]
    }

    private func events(
        ofOwner owner: UserIdentifier?, after former: UserIdentifier?, of client: RegisteredClient
    ) -> [AuditEvent] {
        guard owner != former else { return [] }
        let detail = owner == nil ? "taken from its developer" : "given to a developer"
        return [event(.client, owner ?? former, client.id, detail)]
    }
}

extension ClientRules {
    /// Checks the registration and the policy that an administrator has entered, and throws all problems at once.
    ///
    /// - Parameters:
    ///   - draft: The registration as entered.
    ///   - policyDraft: The policy as entered, on which the rules of the registration depend, too.
    ///   - type: The type of the client.
    ///   - id: The identifier of the client.
    ///   - checksPolicy: Whether the policy itself is checked; if false, the result contains none. An expired exemption
    ///     from PKCE then blocks no other change.
    ///   - schemesInUse: The private-use schemes of the owner's other clients, in lower case.
    ///   - now: The current time.
    package func check(
        _ draft: ClientDraft, policy policyDraft: PolicyDraft, of type: ClientType, id: ClientIdentifier,
        checksPolicy: Bool = true, schemesInUse: Set<String>, now: Date
    ) throws(ClientRegistrationRefusal) -> (client: CheckedClient, policy: ClientPolicy?) {
        var problems: [ClientProblem] = []
        var client: CheckedClient?
        var policy: ClientPolicy?
        do {
            client = try check(
                draft, type: type, id: id, isFirstParty: policyDraft.isFirstParty, schemesInUse: schemesInUse)
        } catch { problems += error.problems }
        if checksPolicy {
            let redirectURIs = client?.redirectURIs ?? draft.redirectURIs.compactMap { try? RedirectURI($0) }
            let scope = client?.scope ?? Scope(draft.scopes.compactMap { Scope.Token($0) })
            do {
                // The rules of the registration have already judged the post-logout redirect URIs by the same policy.
                policy = try check(
                    policyDraft, of: type, redirectURIs: redirectURIs,
                    postLogoutRedirectURIs: client?.postLogoutRedirectURIs ?? [], scope: scope, now: now)
            } catch { problems += error.problems }
        }
        guard problems.isEmpty, let client else { throw ClientRegistrationRefusal(problems) }
        return (client, policy)
    }
}

extension PolicyDraft {
    /// Creates the draft of the policy of a new client that an administrator registers.
    ///
    /// The publisher of the client counts as verified, because the administrator has chosen it. For the same reason, a
    /// service may request the chosen scopes without a user, except the standard ones.
    package init(registering type: ClientType, for scopes: [String]) {
        self.init(.standard(for: type))
        isVouchedFor = true
        guard type == .service else { return }
        machineScopes = scopes.filter { name in
            Scope.Token(name).map { !ScopeDefinition.ofUsers.contains($0) } ?? false
        }
    }
}
