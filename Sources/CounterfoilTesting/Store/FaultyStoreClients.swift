public import CounterfoilProtocol
public import CounterfoilServer

extension FaultyStore: ClientStore {
    /// The application of an identifier.
    public func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        try await enter(.client)
        return try await store.client(id)
    }

    /// Every application, oldest first.
    public func clients() async throws(StoreFault) -> [RegisteredClient] {
        try await enter(.clients)
        return try await store.clients()
    }

    /// Whether an application is registered for an origin.
    public func isRegistered(_ origin: WebOrigin) async throws(StoreFault) -> Bool {
        try await enter(.isRegistered)
        return try await store.isRegistered(origin)
    }

    /// The applications that a developer has registered.
    public func clients(of owner: PersonIdentifier) async throws(StoreFault) -> [RegisteredClient] {
        try await enter(.clients)
        return try await store.clients(of: owner)
    }

    /// Registers an application.
    public func addClient(
        _ client: RegisteredClient,
        logo: Logo?,
        secret: ClientSecretRecord?,
        ownerLimit: Int
    ) async throws(StoreFault) -> AddClientOutcome {
        try await enter(.addClient)
        return try await store.addClient(client, logo: logo, secret: secret, ownerLimit: ownerLimit)
    }

    /// Changes an application.
    public func updateClient(
        _ client: RegisteredClient,
        logo: LogoChange
    ) async throws(StoreFault) -> UpdateClientOutcome {
        try await enter(.updateClient)
        return try await store.updateClient(client, logo: logo)
    }

    /// Removes an application.
    @discardableResult
    public func removeClient(_ id: ClientIdentifier) async throws(StoreFault) -> Bool {
        try await enter(.removeClient)
        return try await store.removeClient(id)
    }

    /// How often an application was served without S256.
    public func pkceExceptionUse(of id: ClientIdentifier) async throws(StoreFault) -> PKCEExceptionUse? {
        try await enter(.pkceExceptionUse)
        return try await store.pkceExceptionUse(of: id)
    }

    /// The secrets of an application.
    public func clientSecrets(of id: ClientIdentifier) async throws(StoreFault) -> [ClientSecretRecord] {
        try await enter(.clientSecrets)
        return try await store.clientSecrets(of: id)
    }

    /// Adds a secret.
    public func addClientSecret(_ secret: ClientSecretRecord) async throws(StoreFault) -> AddClientSecretOutcome {
        try await enter(.addClientSecret)
        return try await store.addClientSecret(secret)
    }

    /// Ends a secret of an application.
    @discardableResult
    public func removeClientSecret(
        _ digest: ArtefactDigest,
        of id: ClientIdentifier
    ) async throws(StoreFault) -> Bool {
        try await enter(.removeClientSecret)
        return try await store.removeClientSecret(digest, of: id)
    }

    /// The picture of an identifier.
    public func logo(_ id: LogoIdentifier) async throws(StoreFault) -> Logo? {
        try await enter(.logo)
        return try await store.logo(id)
    }
}
