public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation

/// The type of a client, which determines the allowed grants and client authentication (RFC 6749 §2.1, RFC 8252
/// §8.4).
public enum ClientType: String, Sendable, Hashable, CaseIterable, Codable {
    /// A mobile, desktop or command-line app: public, without a secret.
    case native
    /// A single-page application: public, without a secret.
    case singlePage = "spa"
    /// A web application with its own server: confidential.
    case web
    /// A device without a browser: public, unless it registered itself with a secret or a key (RFC 8628 §3.1).
    case device
    /// A program that acts without a user: confidential.
    case service

    /// Whether clients of the type can keep a secret (RFC 6749 §2.1); a device can, if it registered itself for it
    /// (``RegisteredClient/isConfidential``).
    public var isConfidential: Bool {
        switch self {
        case .native, .singlePage, .device: false
        case .web, .service: true
        }
    }

    /// Whether the client uses the authorization code grant (RFC 6749 §4.1), in which a user signs in with a
    /// browser.
    package var usesAuthorizationCode: Bool {
        switch self {
        case .native, .singlePage, .web: true
        case .device, .service: false
        }
    }
}

/// A registered client.
///
/// The developer writes most of the registration; only an administrator sets ``policy``. A client can also identify
/// or register itself (``source``).
public struct RegisteredClient: Sendable, Hashable {
    /// `client_id`.
    public let id: ClientIdentifier
    /// The type, which cannot be changed after the registration; only that of an unregistered client can.
    public let type: ClientType
    /// The developer who registered the client on the My Apps page; nil if an administrator registered it.
    public var owner: UserIdentifier?
    /// The texts and the logo that pages show to users.
    public var presentation: ClientPresentation
    /// The redirect URIs, `redirect_uris`.
    public var redirectURIs: [RedirectURI]
    /// The scopes that the client may request.
    public var scope: Scope
    /// The subset of ``scope`` that a user can decline on the consent page.
    public var optionalScope: Scope
    /// The origins from which a single-page application may send requests (CORS).
    public var origins: [RegisteredOrigin]
    /// The Apple apps that may claim the https redirect URIs of the client, as the server lists them in
    /// `apple-app-site-association`.
    public var appleApps: [AppleApp]
    /// The Android apps that may claim the https redirect URIs of the client, as the server lists them in
    /// `assetlinks.json`.
    public var androidApps: [AndroidApp]
    /// The URIs to which a user may return after signing out, `post_logout_redirect_uris` (OpenID Connect
    /// RP-Initiated Logout §3.1).
    public var postLogoutRedirectURIs: [RedirectURI]
    /// The URL to which the server sends back-channel logout notifications, `backchannel_logout_uri`; nil for none.
    public var backchannelLogoutURI: AbsoluteURI?
    /// The public keys for client authentication, `jwks` (RFC 7523 §2.2); nil if the client uses secrets.
    ///
    /// If the client has a ``keysURI``, these are the keys that the server last read there.
    public var keys: JSONWebKeySet?
    /// The URL at which the client publishes its keys, `jwks_uri` (RFC 7591 §2); nil if ``keys`` contains them all.
    public var keysURI: AbsoluteURI?
    /// The way in which the client became known to the server.
    public var source: ClientSource { didSet { documentAddress = DocumentAddress(of: id, from: source) } }
    /// The address of the document of the client; nil if it has none.
    package private(set) var documentAddress: DocumentAddress?
    /// The settings of the client that only an administrator can change.
    public var policy: ClientPolicy
    /// The approval of the client by an administrator.
    public var approval: ClientApproval
    /// The users, besides the developer, who can sign in while the client is in development.
    ///
    /// They are usernames as the developer has typed them, so that nothing shows whether an account exists.
    public var testers: [Username]
    /// The suspension of the client; nil if it is not suspended.
    public var suspension: ClientSuspension?
    /// The scopes that the client does not get because they are reserved for approved clients.
    ///
    /// The server determines them at each request, and removes them from ``scope``. A grant can still contain one, also
    /// if the client is not registered for it any more. No store keeps them.
    package var withheldScope = Scope()
    /// The scope of a request of an unregistered client that names no scope, or an API and none of its scopes; nil for
    /// a registered client.
    ///
    /// The owner's policy determines it at each request. No store keeps it.
    package var defaultScope: Scope?
    /// The time of the registration.
    public package(set) var createdAt: Date
    /// The time of the last change.
    public var changedAt: Date
    /// The number of changes since the registration.
    ///
    /// A store rejects an update that is based on another revision (see
    /// ``ClientStore/updateClient(_:logo:recording:)``).
    public var revision: Int

    /// Creates a record.
    public init(
        id: ClientIdentifier,
        type: ClientType,
        owner: UserIdentifier? = nil,
        presentation: ClientPresentation,
        redirectURIs: [RedirectURI],
        scope: Scope,
        optionalScope: Scope = Scope([]),
        origins: [RegisteredOrigin] = [],
        appleApps: [AppleApp] = [],
        androidApps: [AndroidApp] = [],
        postLogoutRedirectURIs: [RedirectURI] = [],
        backchannelLogoutURI: AbsoluteURI? = nil,
        keys: JSONWebKeySet? = nil,
        keysURI: AbsoluteURI? = nil,
        source: ClientSource = .console,
        policy: ClientPolicy,
        approval: ClientApproval = .open,
        testers: [Username] = [],
        suspension: ClientSuspension? = nil,
        createdAt: Date,
        changedAt: Date? = nil,
        revision: Int = 0
    ) {
        self.id = id
        self.type = type
        self.owner = owner
        self.presentation = presentation
        self.redirectURIs = redirectURIs
        self.scope = scope
        self.optionalScope = optionalScope
        self.origins = origins
        self.appleApps = appleApps
        self.androidApps = androidApps
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
        self.backchannelLogoutURI = backchannelLogoutURI
        self.keys = keys
        self.keysURI = keysURI
        self.source = source
        documentAddress = DocumentAddress(of: id, from: source)
        self.policy = policy
        self.approval = approval
        self.testers = testers
        self.suspension = suspension
        self.createdAt = createdAt
        self.changedAt = changedAt ?? createdAt
        self.revision = revision
    }

    /// Whether the client must authenticate (RFC 6749 §2.1 and §3.2.1).
    public var isConfidential: Bool {
        guard type == .device else { return type.isConfidential }
        if keys != nil { return true }
        guard case .registration(let registration) = source else { return false }
        return registration.usesSecret
    }

    /// The allowed methods of client authentication, the preferred one first (`token_endpoint_auth_method`, RFC
    /// 7591 §2).
    public var authenticationMethods: [String] {
        guard isConfidential else { return ["none"] }
        return keys == nil ? ["client_secret_basic", "client_secret_post"] : ["private_key_jwt"]
    }
}

/// The information that a client gives about itself; the server verifies none of it.
public struct ClientPresentation: Sendable, Hashable {
    /// `client_name`, 1 to 100 characters.
    public var name: String
    /// The name of the publisher, at most 100 characters; nil for none.
    public var publisher: String?
    /// The developer's text for the consent page, in Markdown; at most 4,000 characters.
    public var consentText: String?
    /// `policy_uri`, an https URL (RFC 7591 §2).
    public var privacyURI: AbsoluteURI?
    /// `tos_uri`, an https URL (RFC 7591 §2).
    public var termsURI: AbsoluteURI?
    /// The identifier of the logo, whose image the store keeps; nil for none.
    public var logo: LogoIdentifier?

    /// Creates a presentation; by default, it has only a name.
    public init(
        name: String,
        publisher: String? = nil,
        consentText: String? = nil,
        privacyURI: AbsoluteURI? = nil,
        termsURI: AbsoluteURI? = nil,
        logo: LogoIdentifier? = nil
    ) {
        self.name = name
        self.publisher = publisher
        self.consentText = consentText
        self.privacyURI = privacyURI
        self.termsURI = termsURI
        self.logo = logo
    }
}

/// The outcome of ``ClientStore/addClient(_:logo:secret:ownerLimit:recording:)``.
public enum AddClientOutcome: Sendable, Hashable {
    /// The client is registered, with its logo and first secret if they were given.
    case added
    /// A client or a user with this identifier exists, or a developer chose the identifier of a deleted client;
    /// nothing was written.
    case identifierTaken
    /// A deleted client with this identifier has records that are not deleted yet (``ClientRemoval``); nothing was
    /// written.
    case identifierBeingFreed
    /// The registration contains these scopes, which the server does not have; nothing was written.
    case unknownScopes(Scope)
    /// The owner already has the maximum number of clients of a developer; nothing was written.
    case tooMany
    /// The owner does not exist, for example because the user was deleted; nothing was written.
    case ownerNotFound
}

/// The outcome of ``ClientStore/updateClient(_:logo:recording:)``.
public enum UpdateClientOutcome: Sendable, Hashable {
    /// The client was changed, and its revision increased by one.
    case updated
    /// Another update changed the client after it was read; nothing was written.
    case changedMeanwhile
    /// There is no such client; nothing was written.
    case notFound
    /// The registration contains these scopes, which the server does not have; nothing was written.
    case unknownScopes(Scope)
}

/// A change to the logo of a client or of the branding.
public enum LogoChange: Sendable, Hashable {
    /// Keep the current state, with or without a logo.
    case keep
    /// Remove the current logo; the store deletes the image if nothing else uses it.
    case remove
    /// Replace the current logo with the given one, or add it if there is none.
    case replace(Logo)

    /// Returns the identifier of the logo after the change; nil if there is no logo then.
    package func identifier(after former: LogoIdentifier?) -> LogoIdentifier? {
        switch self {
        case .keep: former
        case .remove: nil
        case .replace(let logo): logo.id
        }
    }
}

/// The number and last time of authorizations of one client without S256, which its ``PKCEPolicy`` allows.
public struct PKCEExceptionUse: Sendable, Hashable {
    /// The number of authorizations without S256.
    public let count: Int
    /// The time of the last authorization without S256.
    public let lastAt: Date

    /// Creates a record.
    public init(count: Int, lastAt: Date) {
        self.count = count
        self.lastAt = lastAt
    }
}

/// The values of a client that its deletion needs.
///
/// A store reads them even if the record has another value that is invalid, or that this version does not know.
public struct ClientOwnership: Sendable, Hashable {
    /// The identifier of the client.
    public let id: ClientIdentifier
    /// The developer who owns the client; nil if there is none, or if the stored identifier is invalid.
    public let owner: UserIdentifier?
    /// Whether no person registered the client: it identified or registered itself.
    public let isUnregistered: Bool

    /// Creates a record that a store has read.
    public init(id: ClientIdentifier, owner: UserIdentifier?, isUnregistered: Bool) {
        self.id = id
        self.owner = owner
        self.isUnregistered = isUnregistered
    }
}

/// The registered clients, their secrets and logos; ``RegistryReader`` looks up one client.
public protocol ClientStore: Sendable {
    /// Reads all clients that a person registered, oldest first.
    func clients() async throws(StoreFault) -> [RegisteredClient]
    /// Counts the clients that persons registered, and those that wait for an administrator.
    func clientCounts() async throws(StoreFault) -> ClientCounts
    /// Reads the clients that a developer has registered, oldest first.
    func clients(of owner: UserIdentifier) async throws(StoreFault) -> [RegisteredClient]
    /// Reads the identifiers of the clients that a developer has registered, oldest first.
    ///
    /// It also returns clients that ``clients(of:)`` leaves out because of a value that this version does not know.
    func clientIdentifiers(of owner: UserIdentifier) async throws(StoreFault) -> [ClientIdentifier]
    /// Reads what the deletion of a client needs, and no other value of its record; nil if there is no such client.
    func clientOwnership(_ id: ClientIdentifier) async throws(StoreFault) -> ClientOwnership?
    /// Returns whether the ``RegisteredClient/origins`` of any client cover the given origin (RFC 6454).
    func isRegistered(_ origin: WebOrigin) async throws(StoreFault) -> Bool
    /// Registers a client with an optional logo and first secret.
    ///
    /// The store writes nothing if the identifier is in use, a scope or the owner does not exist, or the owner already
    /// has `ownerLimit` clients. A client with an owner cannot have the identifier of a deleted client; a client
    /// without an owner can.
    ///
    /// The store sets ``ClientPresentation/logo`` from `logo`. Equal logos are stored once.
    func addClient(
        _ client: RegisteredClient,
        logo: Logo?,
        secret: ClientSecretRecord?,
        ownerLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome
    /// Changes a client if its stored revision still equals that of `client`, and increases the revision by one.
    ///
    /// ``RegisteredClient/id``, ``RegisteredClient/type`` and ``RegisteredClient/createdAt`` never change. The store
    /// takes the logo from `logo`, and everything else from `client`. In the same transaction, it deletes the former
    /// logo if nothing else uses it.
    func updateClient(
        _ client: RegisteredClient, logo: LogoChange, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateClientOutcome
    /// Stores the decision of an administrator about a client, and changes nothing else of its record.
    ///
    /// The store reads no other value, so that a client can be suspended even if its record has a value that this
    /// version does not know.
    func decide(
        _ decision: ClientDecision, on id: ClientIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ClientDecisionOutcome
    /// Deletes a client and everything that belongs to it.
    ///
    /// This includes its grants, codes, device authorizations, token families, consents, secrets, statistics, pushed
    /// requests and queued logout notifications. When the method returns, none of them has an effect, but some may not
    /// be deleted yet (``ClientRemoval``). Its logo is deleted if nothing else uses it. The store remembers that the
    /// identifier was used, unless the client identified or registered itself.
    ///
    /// - Returns: False if there is no such client.
    @discardableResult
    func removeClient(_ id: ClientIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool
    /// Reads how often a client was authorized without S256; nil if it never was.
    func pkceExceptionUse(of id: ClientIdentifier) async throws(StoreFault) -> PKCEExceptionUse?
    /// Adds a secret, unless the client already has ``ClientSecretRecord/limit`` secrets.
    func addClientSecret(
        _ secret: ClientSecretRecord, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientSecretOutcome
    /// Deletes a secret of a client; returns false if the client has no such secret.
    @discardableResult
    func removeClientSecret(
        _ digest: ArtefactDigest, of id: ClientIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Reads a logo of a client or of the branding.
    func logo(_ id: LogoIdentifier) async throws(StoreFault) -> Logo?
}

extension ClientStore {
    /// Registers a client without a logo, a secret or an event, and without a limit on the number of clients.
    public func addClient(_ client: RegisteredClient) async throws(StoreFault) -> AddClientOutcome {
        try await addClient(client, logo: nil, secret: nil, ownerLimit: .max, recording: [])
    }
}

extension ClientType {
    /// Whether the client receives authorization responses at a redirect URI.
    package var hasRedirectURIs: Bool {
        switch self {
        case .native, .singlePage, .web: true
        case .device, .service: false
        }
    }
}
