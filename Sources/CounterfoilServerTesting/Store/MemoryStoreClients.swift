// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
import Foundation

extension MemoryStore: ClientStore {
    public func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        state.withLock { state in state.clients.first { $0.id == id } }
    }

    public func clients() async throws(StoreFault) -> [RegisteredClient] {
        state.withLock { state in state.clients.filter { !$0.isUnregistered }.sorted { $0.createdAt < $1.createdAt } }
    }

    public func isRegistered(_ origin: WebOrigin) async throws(StoreFault) -> Bool {
        state.withLock { state in state.clients.contains { $0.origins.contains { $0.covers(origin) } } }
    }

    public func clients(of owner: PersonIdentifier) async throws(StoreFault) -> [RegisteredClient] {
        state.withLock { state in state.clients.filter { $0.owner == owner }.sorted { $0.createdAt < $1.createdAt } }
    }

    public func clientIdentifiers(of owner: PersonIdentifier) async throws(StoreFault) -> [ClientIdentifier] {
        try await clients(of: owner).map(\.id)
    }

    public func clientOwnership(_ id: ClientIdentifier) async throws(StoreFault) -> ClientOwnership? {
        state.withLock { state in
            state.clients.first { $0.id == id }.map {
                ClientOwnership(id: $0.id, owner: $0.owner, isUnregistered: $0.isUnregistered)
            }
        }
    }

    public func addClient(
        _ client: RegisteredClient,
        logo: Logo?,
        secret: ClientSecretRecord?,
        ownerLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome {
        commit(recording: events) { state in
            guard !state.clients.contains(where: { $0.id == client.id }) else { return .identifierTaken }
            guard !state.isBeingRemoved(client.id) else { return .identifierBeingFreed }
            let unknown = state.unknownScopes(of: client)
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            if let owner = client.owner {
                guard state.people[owner] != nil else { return .ownerNotFound }
                guard !state.removedClients.contains(client.id) else { return .identifierTaken }
                guard state.clients.count(where: { $0.owner == owner }) < ownerLimit else { return .tooMany }
            }
            var added = client
            added.presentation.logo = state.keep(logo)
            state.clients.append(added)
            if let secret { state.clientSecrets.append(secret) }
            return .added
        }
    }

    public func updateClient(
        _ client: RegisteredClient,
        logo: LogoChange,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateClientOutcome {
        commit(recording: events) { state in
            guard let index = state.clients.firstIndex(where: { $0.id == client.id }) else { return .notFound }
            let stored = state.clients[index]
            guard stored.revision == client.revision else { return .changedMeanwhile }
            let unknown = state.unknownScopes(of: client)
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            var presentation = client.presentation
            presentation.logo = state.logo(after: logo, former: stored.presentation.logo)
            state.clients[index] = RegisteredClient(
                id: stored.id, type: client.isUnregistered ? client.type : stored.type, owner: client.owner,
                presentation: presentation,
                redirectURIs: client.redirectURIs, scope: client.scope, optionalScope: client.optionalScope,
                origins: client.origins, appleApps: client.appleApps, androidApps: client.androidApps,
                postLogoutRedirectURIs: client.postLogoutRedirectURIs,
                backchannelLogoutURI: client.backchannelLogoutURI, keys: client.keys, keysURI: client.keysURI,
                source: client.source, policy: client.policy, createdAt: stored.createdAt, changedAt: client.changedAt,
                revision: stored.revision + 1
            )
            state.removeLogoIfUnused(stored.presentation.logo)
            return .updated
        }
    }

    @discardableResult
    public func removeClient(_ id: ClientIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            var rows = ClientRemoval.rowsAtOnce
            return state.removeClientForGood(id, atMost: &rows)
        }
    }

    public func pkceExceptionUse(of id: ClientIdentifier) async throws(StoreFault) -> PKCEExceptionUse? {
        state.withLock { state in state.pkceExceptions[id] }
    }

    public func clientSecrets(of id: ClientIdentifier) async throws(StoreFault) -> [ClientSecretRecord] {
        state.withLock { $0.secrets(of: id) }
    }

    public func addClientSecret(
        _ secret: ClientSecretRecord, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientSecretOutcome {
        commit(recording: events) { state in
            guard state.clients.contains(where: { $0.id == secret.clientID }) else { return .clientDeleted }
            let count = state.clientSecrets.count { $0.clientID == secret.clientID }
            guard count < ClientSecretRecord.limit else { return .tooMany }
            state.clientSecrets.append(secret)
            return .added
        }
    }

    @discardableResult
    public func removeClientSecret(
        _ digest: ArtefactDigest,
        of id: ClientIdentifier,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            let index = state.clientSecrets.firstIndex { $0.digest == digest && $0.clientID == id }
            guard let index else { return false }
            state.clientSecrets.remove(at: index)
            return true
        }
    }

    public func logo(_ id: LogoIdentifier) async throws(StoreFault) -> Logo? {
        state.withLock { state in state.logos[id] }
    }
}

extension MemoryStore.State {
    /// Returns the secrets of a client, oldest first.
    func secrets(of id: ClientIdentifier) -> [ClientSecretRecord] {
        clientSecrets.filter { $0.clientID == id }.sorted { $0.createdAt < $1.createdAt }
    }

    /// Returns the scopes in the registration of a client that are not defined in this store.
    func unknownScopes(of client: RegisteredClient) -> Scope {
        Scope(client.scope.union(client.optionalScope).tokens.filter { scopes[$0] == nil })
    }

    /// Stores a logo, if it is given, and returns its identifier; equal logos are stored once.
    mutating func keep(_ logo: Logo?) -> LogoIdentifier? {
        guard let logo else { return nil }
        logos[logo.id] = logo
        return logo.id
    }

    /// Returns the identifier of the logo after a change, and stores a replacement logo.
    mutating func logo(after change: LogoChange, former: LogoIdentifier?) -> LogoIdentifier? {
        switch change {
        case .keep: former
        case .remove: nil
        case .replace(let logo): keep(logo)
        }
    }

    /// Deletes a logo if neither a client nor the branding uses it.
    mutating func removeLogoIfUnused(_ id: LogoIdentifier?) {
        guard let id, branding.logo != id, !clients.contains(where: { $0.presentation.logo == id }) else { return }
        logos[id] = nil
    }
}
