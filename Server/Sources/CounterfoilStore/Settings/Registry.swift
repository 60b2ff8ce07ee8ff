public import CounterfoilProtocol

/// A value that differs after every change of the registry.
///
/// The registry contains the clients, client secrets, APIs, scopes, the policy for unregistered clients, the branding
/// and the signing keys.
public struct RegistryRevision: Sendable, Hashable {
    /// The number that the store gave to the revision; a later revision can have a smaller one.
    package let number: Int64

    /// Creates a revision from a number that the store never gives to another state of its registry.
    public init(_ number: Int64) { self.number = number }
}

/// The records of the registry that requests look up.
///
/// A store reads them from its tables. The server reads them through `CachedRegistry`, which keeps them until the
/// registry changes.
public protocol RegistryReader: Sendable {
    /// Reads the client with an identifier; nil if it does not exist, for example because it was deleted.
    func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient?
    /// Reads the secrets of a confidential client, oldest first.
    func clientSecrets(of id: ClientIdentifier) async throws(StoreFault) -> [ClientSecretRecord]
    /// Reads the API with a resource indicator, in any spelling that is equal (see `Resource`); nil if none is
    /// registered.
    func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource?
    /// Reads all APIs, ordered by resource indicator.
    func resources() async throws(StoreFault) -> [RegisteredResource]
    /// Reads the API that authenticates with a `client_id`.
    func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource?
    /// Reads all scopes in the order of their tokens, including ``ScopeDefinition/standard``.
    func scopes() async throws(StoreFault) -> [ScopeDefinition]
    /// Reads the policy for unregistered clients, which has its default values until it is changed.
    func unregisteredClientPolicy() async throws(StoreFault) -> UnregisteredClientPolicy
    /// Reads the branding; until the first update, this is the default look with revision 0.
    func branding() async throws(StoreFault) -> Branding
    /// Reads the longest time without use, in seconds, that the policy of a client sets for its refresh tokens.
    ///
    /// Only clients that a person registered count. The result is nil if no policy sets one.
    func longestRefreshIdleLifetime() async throws(StoreFault) -> Int?
}

/// The registry of a store, with the revision that tells whether a cached record is current.
public protocol RegistryStore: RegistryReader, RequestStore {
    /// Reads the revision of the registry.
    ///
    /// Each committed change of the registry, by any process, gives it a value that it never had before. A change that
    /// fails, or that finds its condition not met, leaves it as it is. A read that begins after this method has
    /// returned sees the registry of this revision or of a later one.
    ///
    /// The server calls this method for each lookup of a record, so it should take no longer than the read of one row.
    func registryRevision() async throws(StoreFault) -> RegistryRevision
    /// Reads the clients whose apps the association files of the server list, oldest first.
    ///
    /// These are the native clients that a person registered, that name at least one Apple or Android app, and whose
    /// claimed https redirect URIs an administrator has verified (``ClientPolicy/isClaimedHTTPSVerified``). The number
    /// of other clients must not affect the duration.
    func associatedClients() async throws(StoreFault) -> [RegisteredClient]
}
