// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer

extension FaultyStore: ClientStore {
    public func clients() async throws(StoreFault) -> [RegisteredClient] {
        try await enter(.clients)
        return try await store.clients()
    }

    public func isRegistered(_ origin: WebOrigin) async throws(StoreFault) -> Bool {
        try await enter(.isRegistered)
        return try await store.isRegistered(origin)
    }

    public func clients(of owner: PersonIdentifier) async throws(StoreFault) -> [RegisteredClient] {
        try await enter(.clients)
        return try await store.clients(of: owner)
    }

    public func clientIdentifiers(of owner: PersonIdentifier) async throws(StoreFault) -> [ClientIdentifier] {
        try await enter(.clients)
        return try await store.clientIdentifiers(of: owner)
    }

    public func clientOwnership(_ id: ClientIdentifier) async throws(StoreFault) -> ClientOwnership? {
        try await enter(.clients)
        return try await store.clientOwnership(id)
    }

    public func addClient(
        _ client: RegisteredClient,
        logo: Logo?,
        secret: ClientSecretRecord?,
        ownerLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome {
        try await enter(.addClient)
        return try await store.addClient(client, logo: logo, secret: secret, ownerLimit: ownerLimit, recording: events)
    }

    public func updateClient(
        _ client: RegisteredClient,
        logo: LogoChange,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateClientOutcome {
        try await enter(.updateClient)
        return try await store.updateClient(client, logo: logo, recording: events)
    }

    @discardableResult
    public func removeClient(_ id: ClientIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        try await enter(.removeClient)
        return try await store.removeClient(id, recording: events)
    }

    public func pkceExceptionUse(of id: ClientIdentifier) async throws(StoreFault) -> PKCEExceptionUse? {
        try await enter(.pkceExceptionUse)
        return try await store.pkceExceptionUse(of: id)
    }

    public func addClientSecret(
        _ secret: ClientSecretRecord, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientSecretOutcome {
        try await enter(.addClientSecret)
        return try await store.addClientSecret(secret, recording: events)
    }

    @discardableResult
    public func removeClientSecret(
        _ digest: ArtefactDigest,
        of id: ClientIdentifier,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await enter(.removeClientSecret)
        return try await store.removeClientSecret(digest, of: id, recording: events)
    }

    public func logo(_ id: LogoIdentifier) async throws(StoreFault) -> Logo? {
        try await enter(.logo)
        return try await store.logo(id)
    }
}
