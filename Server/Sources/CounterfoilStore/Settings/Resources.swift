@_spi(Counterfoil) public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation

/// An API (resource server) that accepts the tokens of this server and introspects them (RFC 7662 §2.1).
public struct RegisteredResource: Sendable, Hashable {
    /// The resource indicator, which is the `aud` of tokens for the API (RFC 8707 §2).
    public let resource: Resource
    /// The `client_id` with which the API authenticates.
    ///
    /// It begins with `api_`, so that it cannot be the identifier of a client.
    public let clientID: ClientIdentifier
    /// The display name, 1 to 100 characters.
    public var name: String
    /// The scopes of the API; a token for the API contains no other scopes (RFC 8707 §2.2).
    ///
    /// Users consent to scopes. An API without a scope therefore gets no tokens.
    public var scope: Scope
    /// The type of the access tokens for the API (`typ`, RFC 9068 §2.1).
    ///
    /// A token for several APIs has the type `JWT` only if all of them are registered with it.
    public var tokenType: AccessTokenType
    /// Whether the API accepts only access tokens that are bound to a key (RFC 9728 §2).
    ///
    /// The member `dpop_bound_access_tokens_required` of its metadata.
    public var requiresBoundTokens: Bool
    /// The digest of the secret with which the API authenticates.
    ///
    /// The secret has 256 random bits, so a slow hash is not needed.
    public var secret: ArtefactDigest
    /// The time of the registration, which later changes keep.
    public let createdAt: Date

    /// Creates a record of an API that is to be registered or that a store has read.
    public init(
        resource: Resource, clientID: ClientIdentifier, name: String, scope: Scope,
        tokenType: AccessTokenType = .atJWT, requiresBoundTokens: Bool = false, secret: ArtefactDigest, createdAt: Date
    ) {
        self.resource = resource
        self.clientID = clientID
        self.name = name
        self.scope = scope
        self.tokenType = tokenType
        self.requiresBoundTokens = requiresBoundTokens
        self.secret = secret
        self.createdAt = createdAt
    }
}

extension RegisteredResource {
    private static let prefix = "api_"

    /// Creates a random `client_id` for an API: `api_` and 128 random bits in base64url.
    public static func newClientID(random: RandomBytes = RandomBytes()) -> ClientIdentifier? {
        ClientIdentifier(prefix + Base64URL.encode(random.bytes(16)))
    }

    /// Returns whether an identifier has the prefix of an API.
    package static func isIdentifier(_ id: ClientIdentifier) -> Bool { id.rawValue.hasPrefix(prefix) }
}

/// The outcome of ``ResourceStore/addResource(_:recording:)``.
public enum AddResourceOutcome: Sendable, Hashable {
    /// The API is registered and can authenticate with its secret.
    case added
    /// Another API has the resource indicator or the `client_id`; nothing was written.
    case exists
    /// The registration contains these scopes, which the server does not have; nothing was written.
    case unknownScopes(Scope)
}

/// The outcome of ``ResourceStore/updateResource(_:from:recording:)``.
public enum UpdateResourceOutcome: Sendable, Hashable {
    /// The name, scopes or token type of the API were changed.
    case updated
    /// Another command changed the API after it was read; nothing was written.
    case changedMeanwhile
    /// There is no such API; nothing was written.
    case notFound
    /// The registration contains these scopes, which the server does not have; nothing was written.
    case unknownScopes(Scope)
}

/// The changes of the registered APIs; ``RegistryReader`` looks them up.
public protocol ResourceStore: Sendable {
    /// Registers an API if all its scopes exist, and its resource indicator and `client_id` are not in use.
    ///
    /// A resource indicator is in use if an API is registered with an equal one, in whatever spelling.
    func addResource(
        _ resource: RegisteredResource, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddResourceOutcome
    /// Changes the name, scopes and token type of an API, if the stored record still equals `former`.
    ///
    /// The other properties of `resource` are those of `former`.
    func updateResource(
        _ resource: RegisteredResource, from former: RegisteredResource, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateResourceOutcome
    /// Replaces the secret of an API, which invalidates the former secret at once; returns false if there is no
    /// such API.
    @discardableResult
    func replaceSecret(
        of resource: Resource, with secret: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Deletes an API, which can then no longer authenticate; returns false if there is no such API.
    @discardableResult
    func removeResource(_ resource: Resource, recording events: [AuditEvent]) async throws(StoreFault) -> Bool
}
