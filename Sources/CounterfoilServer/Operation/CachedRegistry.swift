package import CounterfoilProtocol

/// The registry of a store, cached until any process changes it.
///
/// Each lookup reads the revision of the registry. A cached record is returned only if it was read at this revision. A
/// record that does not exist is cached, too. If the revision cannot be read, the lookup fails, so that nothing is
/// answered from a cache that may be stale.
///
/// The endpoints hold a ``CachedRegistry`` beside an ``UncachedStore``. The signing keys have a cache of their own with
/// the same revision (``KeyRing``).
package final class CachedRegistry: RegistryReader {
    private let store: any RegistryStore
    private let clients = RegistryCache<ClientIdentifier, RegisteredClient?>(capacity: 1000)
    private let secrets = RegistryCache<ClientIdentifier, [ClientSecretRecord]>(capacity: 1000)
    /// The APIs by resource indicator, as it was spelled in the request.
    private let resources = RegistryCache<String, RegisteredResource?>(capacity: 256)
    private let callers = RegistryCache<ClientIdentifier, RegisteredResource?>(capacity: 256)
    private let scopeDefinitions = RegistryCache<Whole, [ScopeDefinition]>(capacity: 1)
    private let policy = RegistryCache<Whole, UnregisteredClientPolicy>(capacity: 1)
    private let look = RegistryCache<Whole, Branding>(capacity: 1)
    private let idleLifetime = RegistryCache<Whole, Int?>(capacity: 1)
    private let associations = AssociationCache()

    /// The key of a record of which the registry has only one.
    private enum Whole: Hashable, Sendable { case whole }

    /// Creates an empty cache above a store.
    package init(_ store: any RegistryStore) { self.store = store }

    package func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        try await cached(id, in: clients) { () async throws(StoreFault) in try await store.client(id) }
    }

    package func clientSecrets(of id: ClientIdentifier) async throws(StoreFault) -> [ClientSecretRecord] {
        try await cached(id, in: secrets) { () async throws(StoreFault) in try await store.clientSecrets(of: id) }
    }

    package func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource? {
        try await cached(resource.rawValue, in: resources) { () async throws(StoreFault) in
            try await store.resource(resource)
        }
    }

    package func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource? {
        try await cached(id, in: callers) { () async throws(StoreFault) in
            try await store.resource(authenticatingAs: id)
        }
    }

    package func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try await cached(.whole, in: scopeDefinitions) { () async throws(StoreFault) in try await store.scopes() }
    }

    package func unregisteredClientPolicy() async throws(StoreFault) -> UnregisteredClientPolicy {
        try await cached(.whole, in: policy) { () async throws(StoreFault) in
            try await store.unregisteredClientPolicy()
        }
    }

    package func branding() async throws(StoreFault) -> Branding {
        try await cached(.whole, in: look) { () async throws(StoreFault) in try await store.branding() }
    }

    package func longestRefreshIdleLifetime() async throws(StoreFault) -> Int? {
        try await cached(.whole, in: idleLifetime) { () async throws(StoreFault) in
            try await store.longestRefreshIdleLifetime()
        }
    }

    /// Returns the association files of an origin of this server.
    ///
    /// They are created once for each revision of the registry, however many requests ask for them at the same time.
    func associationFiles(at place: AssociationFiles.Place) async throws -> AssociationFiles.Encoded {
        let store = store
        return try await associations.files(at: place, revision: try await store.registryRevision()) {
            try AssociationFiles(of: try await store.associatedClients(), at: place).encoded()
        }
    }

    /// Checks that the store answers.
    func checkStore() async throws(StoreFault) { _ = try await store.registryRevision() }

    private func cached<Key, Value>(
        _ key: Key, in cache: RegistryCache<Key, Value>, orRead read: () async throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        let revision = try await store.registryRevision()
        if let value = cache.value(of: key, at: revision) { return value }
        let value = try await read()
        // If the registry has changed since the revision was read, the value may be newer than the revision. No later
        // lookup reads that revision, so the value is then never used.
        cache.keep(value, of: key, at: revision)
        return value
    }
}

/// Records of the registry that were read at one revision.
private final class RegistryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var revision: RegistryRevision?
        var values: [Key: Value] = [:]
    }

    /// The maximum number of cached values; the cache is cleared when it is full.
    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) { self.capacity = capacity }

    func value(of key: Key, at revision: RegistryRevision) -> Value? {
        state.withLock { state in state.revision == revision ? state.values[key] : nil }
    }

    func keep(_ value: Value, of key: Key, at revision: RegistryRevision) {
        state.withLock { state in
            if state.revision != revision || state.values.count >= capacity { state = State(revision: revision) }
            state.values[key] = value
        }
    }
}

/// The association files of the origins of this server, which are one or two.
private actor AssociationCache {
    private typealias Making = Task<AssociationFiles.Encoded, any Error>

    private var making: [AssociationFiles.Place: (revision: RegistryRevision, task: Making)] = [:]

    /// Returns the files of an origin at a revision; the first caller of a revision creates them.
    func files(
        at place: AssociationFiles.Place, revision: RegistryRevision,
        create: @escaping @Sendable () async throws -> AssociationFiles.Encoded
    ) async throws -> AssociationFiles.Encoded {
        if let known = making[place], known.revision == revision { return try await known.task.value }
        // The end of the request that creates the files must not end those that wait for it.
        let task = Making { try await create() }
        making[place] = (revision, task)
        do {
            return try await task.value
        } catch {
            // A failure is not kept, so the next request tries again.
            if making[place]?.task == task { making[place] = nil }
            throw error
        }
    }
}
