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
}

/// An application that is registered here.
public struct RegisteredClient: Sendable, Hashable {
    /// `client_id`.
    public let id: ClientIdentifier
    /// What it is.
    public let type: ClientType
    /// The name that pages show.
    public var name: String
    /// Who publishes it, if known.
    public var publisher: String?
    /// Where answers may go.
    public var redirectURIs: [RedirectURI]
    /// The scopes that it may ask for.
    public var scope: Scope
    /// Whether it belongs to the owner of this server, so that the person is not asked for consent.
    public var isFirstParty: Bool
    /// Whether a request without `state` is refused.
    public var requiresState: Bool
    /// `id_token_signed_response_alg`.
    public var idTokenAlgorithm: SigningAlgorithm
    /// When it was registered.
    public var createdAt: Date

    /// Makes a record.
    public init(
        id: ClientIdentifier,
        type: ClientType,
        name: String,
        publisher: String? = nil,
        redirectURIs: [RedirectURI],
        scope: Scope,
        isFirstParty: Bool = false,
        requiresState: Bool,
        idTokenAlgorithm: SigningAlgorithm = .es256,
        createdAt: Date
    ) {
        self.id = id
        self.type = type
        self.name = name
        self.publisher = publisher
        self.redirectURIs = redirectURIs
        self.scope = scope
        self.isFirstParty = isFirstParty
        self.requiresState = requiresState
        self.idTokenAlgorithm = idTokenAlgorithm
        self.createdAt = createdAt
    }
}

extension RegisteredClient {
    /// The name made fit to be shown, on pages and in a terminal.
    public var displayName: DisplayName { DisplayName(name, orElse: id.rawValue) }
}

/// What happened when an application was to be added.
public enum AddClientOutcome: Sendable, Hashable {
    /// It is registered now.
    case added
    /// There is one with this identifier already.
    case identifierTaken
    /// It is assigned scopes that do not exist; the value names them.
    case unknownScopes(Scope)
}

/// The applications that are registered.
public protocol ClientStore: Sendable {
    /// The application of an identifier.
    func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient?
    /// Every application, oldest first.
    func clients() async throws(StoreFault) -> [RegisteredClient]
    /// Registers an application, unless its identifier is taken or a scope does not exist.
    func addClient(_ client: RegisteredClient) async throws(StoreFault) -> AddClientOutcome
}
