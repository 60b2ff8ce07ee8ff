@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore

/// The registry of a store, cached until any process changes it.
///
/// Each caller says at which revision it looks something up: ``atArrival()`` or ``fresh()``. A cached record is
/// returned only if it was read at this revision. A record that does not exist is cached, too. If the revision cannot
/// be read, the lookup fails, so that nothing is answered from a cache that may be stale.
///
/// The endpoints hold a ``CachedRegistry`` beside an `UncachedStore`. The signing keys have a cache of their own with
/// the same revision (``KeyRing``).
package struct CachedRegistry: Sendable {
    private let store: any RegistryStore
    private let records = RegistryRecords()
    private let associations = AssociationCache()
    /// The request that looks something up; nil for a service.
    private var request: RequestContext?

    /// Creates an empty cache above a store.
    package init(_ store: any RegistryStore) { self.store = store }

    /// Returns this cache for the lookups of one request.
    package func serving(_ request: RequestContext) -> CachedRegistry {
        var bound = self
        bound.request = request
        return bound
    }

    /// Returns the registry at the revision that was read when the request arrived, without another read.
    ///
    /// A change that was committed before the request arrived is seen. It is for lookups before the request changes the
    /// registry or waits for a user, and for those that need not see what changes meanwhile. After the request has
    /// waited for another host, and for a service, it is the same as ``fresh()``.
    package func atArrival() async throws(StoreFault) -> CurrentRegistry {
        guard let revision = request?.arrivalRevision else { return try await fresh() }
        return current(at: revision)
    }

    /// Returns the registry at the revision that it has now.
    ///
    /// A request calls this method again after it has changed the registry, and after it has waited.
    package func fresh() async throws(StoreFault) -> CurrentRegistry {
        current(at: try await boundStore.registryRevision())
    }

    private var boundStore: any RegistryStore { request.map { store.serving($0) } ?? store }

    private func current(at revision: RegistryRevision) -> CurrentRegistry {
        CurrentRegistry(store: boundStore, records: records, associations: associations, revision: revision)
    }

    /// Checks that the store answers until a deadline.
    func checkStore(by deadline: ContinuousClock.Instant) async throws(StoreFault) {
        let check = RequestContext(id: "readiness", source: "none", deadline: deadline)
        _ = try await store.serving(check).registryRevision()
    }
}

/// The registry at one revision, which no lookup reads again.
///
/// Its lookups read only what the cache does not contain. It is for the steps of one request that follow each other at
/// once.
package struct CurrentRegistry: RegistryReader {
    fileprivate let store: any RegistryStore
    fileprivate let records: RegistryRecords
    fileprivate let associations: AssociationCache
    fileprivate let revision: RegistryRevision

    /// Returns the association files of an origin of this server.
    ///
    /// They are created once for each revision of the registry, however many requests ask for them at the same time.
    func associationFiles(at origin: AssociationFiles.Origin) async throws -> AssociationFiles.Encoded {
        let store = store
        return try await associations.files(at: origin, revision: revision) {
            try AssociationFiles(of: try await store.associatedClients(), at: origin).encoded()
        }
    }

    /// Returns a value that is made from records of the registry, and made again when the registry has changed.
    func value<Value>(
        in cache: RegistryCache<SingletonKey, Value>, orMake make: () async throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        try await cached(.singleton, in: cache, orRead: make)
    }

    package func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        try await cached(id, in: records.clients) { () async throws(StoreFault) in try await store.client(id) }
    }

    package func clientSecrets(of id: ClientIdentifier) async throws(StoreFault) -> [ClientSecretRecord] {
        try await cached(id, in: records.secrets) { () async throws(StoreFault) in try await store.clientSecrets(of: id)
        }
    }

    package func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource? {
        try await cached(resource.rawValue, in: records.resources) { () async throws(StoreFault) in
            try await store.resource(resource)
        }
    }

    package func resources() async throws(StoreFault) -> [RegisteredResource] {
        try await apis().all
    }

    /// Returns the registered APIs with their scopes.
    func apis() async throws(StoreFault) -> RegisteredAPIs {
        try await cached(.singleton, in: records.apis) { () async throws(StoreFault) in
            RegisteredAPIs(try await store.resources())
        }
    }

    package func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource? {
        try await cached(id, in: records.callers) { () async throws(StoreFault) in
            try await store.resource(authenticatingAs: id)
        }
    }

    package func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try await cached(.singleton, in: records.scopes) { () async throws(StoreFault) in try await store.scopes() }
    }

    /// Returns the claims that the scopes of the owner release.
    func scopeClaims() async throws(StoreFault) -> ScopeClaims {
        try await cached(.singleton, in: records.scopeClaims) { () async throws(StoreFault) in
            ScopeClaims(try await scopes(), beside: try await resources())
        }
    }

    package func unregisteredClientPolicy() async throws(StoreFault) -> UnregisteredClientPolicy {
        try await cached(.singleton, in: records.policy) { () async throws(StoreFault) in
            try await store.unregisteredClientPolicy()
        }
    }

    package func branding() async throws(StoreFault) -> Branding {
        try await cached(.singleton, in: records.branding) { () async throws(StoreFault) in try await store.branding() }
    }

    package func longestRefreshIdleLifetime() async throws(StoreFault) -> Int? {
        try await cached(.singleton, in: records.idleLifetime) { () async throws(StoreFault) in
            try await store.longestRefreshIdleLifetime()
        }
    }

    private func cached<Key, Value>(
        _ key: Key, in cache: RegistryCache<Key, Value>, orRead read: () async throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        if let value = cache.value(of: key, at: revision) { return value }
        let value = try await read()
        // If the registry has changed since the revision was read, the value may be newer than the revision. Only
        // requests that have read that revision already can still use the value.
        cache.keep(value, of: key, at: revision)
        return value
    }
}

/// The cached records of a registry, by kind.
private final class RegistryRecords: Sendable {
    let clients = RegistryCache<ClientIdentifier, RegisteredClient?>(capacity: 1000)
    let secrets = RegistryCache<ClientIdentifier, [ClientSecretRecord]>(capacity: 1000)
    /// The APIs by resource indicator, as it was spelled in the request.
    let resources = RegistryCache<String, RegisteredResource?>(capacity: 256)
    let apis = RegistryCache<SingletonKey, RegisteredAPIs>(capacity: 1)
    let callers = RegistryCache<ClientIdentifier, RegisteredResource?>(capacity: 256)
    let scopes = RegistryCache<SingletonKey, [ScopeDefinition]>(capacity: 1)
    let scopeClaims = RegistryCache<SingletonKey, ScopeClaims>(capacity: 1)
    let policy = RegistryCache<SingletonKey, UnregisteredClientPolicy>(capacity: 1)
    let branding = RegistryCache<SingletonKey, Branding>(capacity: 1)
    let idleLifetime = RegistryCache<SingletonKey, Int?>(capacity: 1)
}

/// The key of a record of which the registry has only one.
enum SingletonKey: Hashable, Sendable { case singleton }

/// Records of the registry that were read at one revision.
final class RegistryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
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

    private var making: [AssociationFiles.Origin: (revision: RegistryRevision, task: Making)] = [:]

    /// Returns the files of an origin at a revision; the first caller of a revision creates them.
    func files(
        at origin: AssociationFiles.Origin, revision: RegistryRevision,
        create: @escaping @Sendable () async throws -> AssociationFiles.Encoded
    ) async throws -> AssociationFiles.Encoded {
        if let known = making[origin], known.revision == revision { return try await known.task.value }
        // The end of the request that creates the files must not end those that wait for it.
        let task = Making { try await create() }
        making[origin] = (revision, task)
        do {
            return try await task.value
        } catch {
            // A failure is not kept, so the next request tries again.
            if making[origin]?.task == task { making[origin] = nil }
            throw error
        }
    }
}
