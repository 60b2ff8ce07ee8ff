public import CounterfoilProtocol
public import Foundation

/// An API that accepts the tokens of this server, and asks about them (RFC 7662 §2.1).
public struct RegisteredResource: Sendable, Hashable {
    /// Its indicator, which is the `aud` of tokens for it (RFC 8707 §2).
    public let resource: Resource
    /// With what it authenticates when it asks; begins with `api_`, as no application's does.
    public let clientID: ClientIdentifier
    /// The name that people read, 1 to 100 characters.
    public var name: String
    /// The scopes that mean something to it; a token for it carries no others (RFC 8707 §2.2).
    ///
    /// What people allow are scopes, so for an API without any there is nothing to allow, and no token.
    public var scope: Scope
    /// The digest of its secret, which has 256 random bits.
    public var secret: ArtefactDigest
    /// When it was registered.
    public let createdAt: Date

    /// Makes a record.
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

    /// A new identifier of 128 random bits for an API to authenticate with.
    public static func newClientID(random: RandomBytes = RandomBytes()) -> ClientIdentifier? {
        ClientIdentifier(prefix + Base64URL.encode(random.bytes(16)))
    }

    /// Whether an identifier is one of an API, by how it begins.
    static func isIdentifier(_ id: ClientIdentifier) -> Bool { id.rawValue.hasPrefix(prefix) }
}

/// What happened when an API was to be registered.
public enum AddResourceOutcome: Sendable, Hashable {
    /// It is registered now.
    case added
    /// There is one with this indicator or identifier already.
    case exists
    /// It names scopes that do not exist.
    case unknownScopes(Scope)
}

/// The APIs that are registered.
public protocol ResourceStore: Sendable {
    /// Every API, by its indicator.
    func resources() async throws(StoreFault) -> [RegisteredResource]
    /// The API of an indicator.
    func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource?
    /// The API that authenticates by an identifier.
    func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource?
    /// Registers an API, unless its indicator or its identifier is taken.
    func addResource(_ resource: RegisteredResource) async throws(StoreFault) -> AddResourceOutcome
    /// Gives an API another secret, which ends the former one; true when there was one.
    @discardableResult
    func replaceSecret(of resource: Resource, with secret: ArtefactDigest) async throws(StoreFault) -> Bool
    /// Takes an API away; true when there was one.
    @discardableResult
    func removeResource(_ resource: Resource) async throws(StoreFault) -> Bool
}
