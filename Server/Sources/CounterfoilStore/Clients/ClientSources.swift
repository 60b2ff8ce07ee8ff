package import CounterfoilProtocol
@_spi(Counterfoil) package import CounterfoilTokens

/// The way in which a client became known to the server.
public enum ClientSource: Sendable, Hashable {
    /// A developer or an administrator registered the client, on the console or the command line.
    case console
    /// The client identifies itself by the URL of its metadata document
    /// (draft-ietf-oauth-client-id-metadata-document); the associated value is the document, as JSON.
    case document([UInt8])
    /// The client registered itself (RFC 7591).
    case registration(DynamicRegistration)

    /// The kind of the source; nil for ``console``.
    public var kind: UnregisteredClientKind? {
        switch self {
        case .console: nil
        case .document: .document
        case .registration: .registration
        }
    }
}

/// The ways in which a client can use the server without a registration by a person.
public enum UnregisteredClientKind: String, Sendable, Hashable, CaseIterable {
    /// The identifier of the client is the URL of its metadata document.
    case document = "documents"
    /// The client registers itself at the registration endpoint.
    case registration
}

/// The registration that a client made itself (RFC 7591 §3).
public struct DynamicRegistration: Sendable, Hashable {
    /// The registered metadata as JSON, as the response of the registration contained it.
    public let metadata: [UInt8]
    /// The digest of the `registration_access_token`, with which the client manages its registration (RFC 7592 §2).
    public let accessToken: ArtefactDigest

    /// Creates a record.
    public init(metadata: [UInt8], accessToken: ArtefactDigest) {
        self.metadata = metadata
        self.accessToken = accessToken
    }
}

extension DynamicRegistration {
    /// The registered metadata; empty if they cannot be read.
    package var members: [String: JSONValue] { (try? JSONReader.object(metadata)) ?? [:] }

    /// Whether the client authenticates with a secret that the server created.
    package var usesSecret: Bool {
        guard case .string(let method)? = members["token_endpoint_auth_method"] else { return false }
        return Self.symmetricMethods.contains(method)
    }

    /// The methods of authentication with a secret that the server creates.
    package static let symmetricMethods: Set<String> = [
        "client_secret_basic", "client_secret_post", "client_secret_jwt",
    ]
}

extension RegisteredClient {
    /// Whether no person registered the client: it identified or registered itself.
    public var isUnregistered: Bool { source.kind != nil }
}

extension ClientIdentifier {
    /// Whether the identifier has the form of the URL of a client document.
    ///
    /// No identifier that the server or a developer chooses has this form.
    package var isURL: Bool { rawValue.hasPrefix("https://") }
}
