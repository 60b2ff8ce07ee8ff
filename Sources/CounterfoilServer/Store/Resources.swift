public import CounterfoilProtocol
public import Foundation

/// An API (resource server) that accepts the tokens of this server and introspects them (RFC 7662 §2.1).
public struct RegisteredResource: Sendable, Hashable {
    /// The resource indicator, which is the `aud` of tokens for the API (RFC 8707 §2).
    public let resource: Resource
    /// The identifier with which the API authenticates.
    ///
    /// It begins with `api_`, which no client identifier does.
    public let clientID: ClientIdentifier
    /// The display name, 1 to 100 characters.
    public var name: String
    /// The scopes of the API; a token for it carries no others (RFC 8707 §2.2).
    ///
    /// Users consent to scopes, so an API without a scope gets no tokens.
    public var scope: Scope
    /// The digest of the secret, which has 256 random bits.
    public var secret: ArtefactDigest
    /// The time of the registration.
    public let createdAt: Date

    /// Creates a record.
    public init(
        resource: Resource, clientID: ClientIdentifier, name: String, scope: Scope, secret: ArtefactDigest,
        createdAt: Date
    ) {
        self.resource = resource
        self.clientID = clientID
        self.name = name
        self.scope = scope
        self.secret = secret
        self.createdAt = createdAt
    }
}

extension RegisteredResource {
    private static let prefix = "api_"

    /// Creates a random identifier for an API.
    public static func newClientID(random: RandomBytes = RandomBytes()) -> ClientIdentifier? {
        ClientIdentifier(prefix + Base64URL.encode(random.bytes(16)))
    }

    /// Returns whether an identifier has the prefix of an API.
    static func isIdentifier(_ id: ClientIdentifier) -> Bool { id.rawValue.hasPrefix(prefix) }
}

/// The outcome of ``ResourceStore/addResource(_:)``.
public enum AddResourceOutcome: Sendable, Hashable {
    /// The API is registered.
    case added
    /// The indicator or the identifier is taken; nothing was written.
    case exists
    /// The API names scopes that do not exist, which the value lists; nothing was written.
    case unknownScopes(Scope)
}

/// The registered APIs.
public protocol ResourceStore: Sendable {
    /// Reads all APIs, ordered by indicator.
    func resources() async throws(StoreFault) -> [RegisteredResource]
    /// Reads the API with an indicator.
    func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource?
    /// Reads the API with an identifier for authentication.
    func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource?
    /// Registers an API if all its scopes exist and its indicator and identifier are free.
    func addResource(_ resource: RegisteredResource) async throws(StoreFault) -> AddResourceOutcome
    /// Replaces the secret of an API, which invalidates the former one at once; false if there is no such
    /// API.
    @discardableResult
    func replaceSecret(of resource: Resource, with secret: ArtefactDigest) async throws(StoreFault) -> Bool
    /// Deletes an API; false if there is none.
    @discardableResult
    func removeResource(_ resource: Resource) async throws(StoreFault) -> Bool
}
