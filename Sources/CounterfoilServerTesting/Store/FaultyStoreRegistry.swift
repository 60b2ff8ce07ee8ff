// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer

extension FaultyStore: RegistryStore {
    public func registryRevision() async throws(StoreFault) -> RegistryRevision {
        try await enter(.registryRevision)
        return seen(try await store.registryRevision())
    }

    public func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        try await enter(.client)
        return try await store.client(id)
    }

    public func clientSecrets(of id: ClientIdentifier) async throws(StoreFault) -> [ClientSecretRecord] {
        try await enter(.clientSecrets)
        return try await store.clientSecrets(of: id)
    }

    public func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource? {
        try await enter(.resources)
        return try await store.resource(resource)
    }

    public func resources() async throws(StoreFault) -> [RegisteredResource] {
        try await enter(.resources)
        return try await store.resources()
    }

    public func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource? {
        try await enter(.resources)
        return try await store.resource(authenticatingAs: id)
    }

    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try await enter(.scopes)
        return try await store.scopes()
    }

    public func unregisteredClientPolicy() async throws(StoreFault) -> UnregisteredClientPolicy {
        try await enter(.unregisteredClientPolicy)
        return try await store.unregisteredClientPolicy()
    }

    public func branding() async throws(StoreFault) -> Branding {
        try await enter(.branding)
        return try await store.branding()
    }

    public func associatedClients() async throws(StoreFault) -> [RegisteredClient] {
        try await enter(.associatedClients)
        return try await store.associatedClients()
    }

    public func longestRefreshIdleLifetime() async throws(StoreFault) -> Int? {
        try await enter(.longestRefreshIdleLifetime)
        return try await store.longestRefreshIdleLifetime()
    }
}
