public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation

/// What an application is, which decides how it is treated (RFC 6749 §2.1, RFC 8252 §8.4).
public enum ClientType: String, Sendable, Hashable, CaseIterable, Codable {
    /// A mobile, desktop or command-line application: public, no secret.
    case native
    /// A single-page application: public, no secret.
    case singlePage = "spa"
    /// A web application with a server of its own: confidential.
    case web
    /// A device without a browser: public, no secret.
    case device
    /// A program without a person: confidential.
    case service

    /// Whether the application can keep a secret (RFC 6749 §2.1).
    public var isConfidential: Bool {
        switch self {
        case .native, .singlePage, .device: false
        case .web, .service: true
        }
    }

    /// Whether it has the authorization-code grant (RFC 6749 §4.1): a person signs in for it with a browser.
    var usesAuthorizationCode: Bool {
        switch self {
        case .native, .singlePage, .web: true
        case .device, .service: false
        }
    }
}

/// An application that is registered here.
///
/// What its developer says of it stands beside ``policy``, which only an administrator sets.
public struct RegisteredClient: Sendable, Hashable {
    /// `client_id`.
    public let id: ClientIdentifier
    /// What it is; never changes.
    public let type: ClientType
    /// The developer who registered it at My Apps; nil when an administrator did.
    public var owner: PersonIdentifier?
    /// What people read of it.
    public var presentation: ClientPresentation
    /// Where answers may go.
    public var redirectURIs: [RedirectURI]
    /// The scopes that it may ask for.
    public var scope: Scope
    /// Those of its scopes that a person may leave out.
    public var optionalScope: Scope
    /// The origins of a single-page application.
    public var origins: [WebOrigin]
    /// The apps of Apple's platforms that it is.
    public var appleApps: [AppleApp]
    /// The apps of Android that it is.
    public var androidApps: [AndroidApp]
    /// Where a person may be sent after signing out, `post_logout_redirect_uris` (OpenID Connect RP-Initiated Logout §3.1).
    public var postLogoutRedirectURIs: [RedirectURI]
    /// Where it wants to be told that a session has ended, `backchannel_logout_uri`; nil when it does not.
    public var backchannelLogoutURI: AbsoluteURI?
    /// The keys with which it authenticates, `jwks` (RFC 7523 §2.2); nil when it has secrets.
    public var keys: JSONWebKeySet?
    /// What the administrator has decided about it.
    public var policy: ClientPolicy
    /// When it was registered.
    public let createdAt: Date
    /// When it was last changed.
    public var changedAt: Date
    /// How often it was changed; a store changes it only for who has seen the newest (see ``ClientStore``).
    public var revision: Int

    /// Makes a record.
    public init(
        id: ClientIdentifier,
        type: ClientType,
        owner: PersonIdentifier? = nil,
        presentation: ClientPresentation,
        redirectURIs: [RedirectURI],
        scope: Scope,
        optionalScope: Scope = Scope([]),
        origins: [WebOrigin] = [],
        appleApps: [AppleApp] = [],
        androidApps: [AndroidApp] = [],
        postLogoutRedirectURIs: [RedirectURI] = [],
        backchannelLogoutURI: AbsoluteURI? = nil,
        keys: JSONWebKeySet? = nil,
        policy: ClientPolicy,
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
        self.policy = policy
        self.createdAt = createdAt
        self.changedAt = changedAt ?? createdAt
        self.revision = revision
    }

    /// The name made fit to be shown, on pages and in a terminal.
    public var displayName: DisplayName { DisplayName(presentation.name, orElse: id.rawValue) }

    /// How it authenticates, `token_endpoint_auth_method` (RFC 7591 §2); of several the first is the usual one.
    public var authenticationMethods: [String] {
        guard type.isConfidential else { return ["none"] }
        return keys == nil ? ["client_secret_basic", "client_secret_post"] : ["private_key_jwt"]
    }
}

/// What an application says of itself to people; none of it is believed.
public struct ClientPresentation: Sendable, Hashable {
    /// `client_name`, 1 to 100 characters.
    public var name: String
    /// Who publishes it, at most 100 characters.
    public var publisher: String?
    /// What it says on the consent page, in Markdown; at most 4,000 characters.
    public var consentText: String?
    /// `policy_uri`, an https address (RFC 7591 §2).
    public var privacyURI: AbsoluteURI?
    /// `tos_uri`, an https address (RFC 7591 §2).
    public var termsURI: AbsoluteURI?
    /// Which picture it has; the store keeps the picture.
    public var logo: LogoIdentifier?

    /// Makes what an application says of itself.
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

/// What happened when an application was to be added.
public enum AddClientOutcome: Sendable, Hashable {
    /// It is registered now.
    case added
    /// There is one with this identifier already, or a developer would register under the one of a removed client.
    case identifierTaken
    /// It is assigned scopes that do not exist; the value names them.
    case unknownScopes(Scope)
    /// Its owner has as many as one developer may have.
    case tooMany
}

/// What happened when an application was to be changed.
public enum UpdateClientOutcome: Sendable, Hashable {
    /// It is changed now, and its revision is one more.
    case updated
    /// Somebody else has changed it since it was read; nothing was written.
    case changedMeanwhile
    /// There is none; nothing was written.
    case notFound
    /// It is assigned scopes that do not exist; nothing was written.
    case unknownScopes(Scope)
}

/// What becomes of the picture of an application or of the site.
public enum LogoChange: Sendable, Hashable {
    /// The one that it has stays.
    case keep
    /// It has none from now on.
    case remove
    /// This is it from now on.
    case replace(Logo)

    /// The identifier of the picture after the change.
    package func identifier(after former: LogoIdentifier?) -> LogoIdentifier? {
        switch self {
        case .keep: former
        case .remove: nil
        case .replace(let logo): logo.id
        }
    }
}

/// How often an application was served under one of the exceptions of ``PKCEPolicy``, and when last.
public struct PKCEExceptionUse: Sendable, Hashable {
    /// How often.
    public let count: Int
    /// When last.
    public let lastAt: Date

    /// Makes a record.
    public init(count: Int, lastAt: Date) {
        self.count = count
        self.lastAt = lastAt
    }
}

/// The applications that are registered.
public protocol ClientStore: Sendable {
    /// The application of an identifier.
    func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient?
    /// Every application, oldest first.
    func clients() async throws(StoreFault) -> [RegisteredClient]
    /// The applications that a developer has registered, oldest first.
    func clients(of owner: PersonIdentifier) async throws(StoreFault) -> [RegisteredClient]
    /// Whether an application is registered for an origin (RFC 6454).
    func isRegistered(_ origin: WebOrigin) async throws(StoreFault) -> Bool
    /// Registers an application, unless its identifier is taken, a scope does not exist, or its owner has `ownerLimit` already.
    ///
    /// The identifier of a removed client is taken for every developer; only a client without an owner gets it again.
    /// A logo that is given is kept, and ``ClientPresentation/logo`` is its identifier; a secret that is given is its first.
    func addClient(
        _ client: RegisteredClient,
        logo: Logo?,
        secret: ClientSecretRecord?,
        ownerLimit: Int
    ) async throws(StoreFault) -> AddClientOutcome
    /// Changes an application from the revision that it was read at; what it had of a picture is gone when nothing uses it.
    ///
    /// Everything but ``RegisteredClient/id``, ``RegisteredClient/type`` and ``RegisteredClient/createdAt`` is taken from
    /// `client`, whose revision is the one that was read; the logo follows from `logo`.
    func updateClient(_ client: RegisteredClient, logo: LogoChange) async throws(StoreFault) -> UpdateClientOutcome
    /// Removes an application with everything that was given to it; true when there was one.
    @discardableResult
    func removeClient(_ id: ClientIdentifier) async throws(StoreFault) -> Bool
    /// How often it was served without S256; nil when never.
    func pkceExceptionUse(of id: ClientIdentifier) async throws(StoreFault) -> PKCEExceptionUse?
    /// The secrets of a confidential application, oldest first.
    func clientSecrets(of id: ClientIdentifier) async throws(StoreFault) -> [ClientSecretRecord]
    /// Adds a secret, unless there are ``ClientSecretRecord/limit`` already.
    func addClientSecret(_ secret: ClientSecretRecord) async throws(StoreFault) -> AddClientSecretOutcome
    /// Ends a secret of an application; true when there was one.
    @discardableResult
    func removeClientSecret(_ digest: ArtefactDigest, of id: ClientIdentifier) async throws(StoreFault) -> Bool
    /// The picture of an identifier, of an application or of the site.
    func logo(_ id: LogoIdentifier) async throws(StoreFault) -> Logo?
}

extension ClientStore {
    /// Registers an application for an administrator: no picture, no secret, no limit.
    public func addClient(_ client: RegisteredClient) async throws(StoreFault) -> AddClientOutcome {
        try await addClient(client, logo: nil, secret: nil, ownerLimit: .max)
    }
}

extension ClientType {
    /// Whether answers reach it by a redirect.
    package var hasRedirectURIs: Bool {
        switch self {
        case .native, .singlePage, .web: true
        case .device, .service: false
        }
    }
}
