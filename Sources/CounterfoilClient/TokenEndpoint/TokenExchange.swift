public import CounterfoilPlatform
public import CounterfoilProtocol

/// An exchange of one token for another, such as the token of a caller for one that the next API accepts.
///
///     var exchange = TokenExchange(of: caller, issuer: issuer, clientID: clientID, authentication: .privateKey(key))
///     exchange.audiences = ["printing"]
///     exchange.apiOrigins = [try APIOrigin("https://printing.example.com")]
///     let exchanged = try await exchange.run()
///
/// RFC 8693. The server decides which client may exchange which tokens. Counterfoil's own server does not support this
/// grant.
public struct TokenExchange: Sendable {
    /// The issuer of the authorization server; the client fetches its metadata unless ``vendor`` is set.
    public var issuer: Issuer
    /// `client_id`: the client that exchanges the token.
    public var clientID: ClientIdentifier
    /// The client authentication at the token endpoint; many servers exchange no tokens without it.
    public var authentication: ClientAuthentication
    /// `subject_token`, `subject_token_type`: the token of the party for which the new token is requested.
    public var subject: Token
    /// `actor_token`, `actor_token_type`: the token of the party that acts for the subject; nil omits the parameters.
    public var actor: Token?
    /// `requested_token_type`: the type of the new token; nil lets the server choose.
    public var requestedType: TokenType?
    /// `audience`: the names that the server has for the services that will accept the new token.
    public var audiences: [String] = []
    /// `resource`: the APIs that will accept the new token (RFC 8707 §2); an empty list omits the parameter.
    public var resources: [Resource] = []
    /// The requested scope; an empty scope omits the parameter.
    public var scope = Scope()
    /// The origins of the APIs to which the new token may be sent, in addition to those of ``resources``.
    ///
    /// The request does not contain them. If both are empty, the token may be sent only to the origin of the issuer.
    public var apiOrigins: Set<APIOrigin> = []
    /// Whether the new token is bound to a key that the exchange generates (RFC 9449); for access tokens only.
    public var bindsTokens = false
    /// The server with its vendor profile, for a server that deviates from the standard.
    ///
    /// If it is nil, the client fetches the metadata of ``issuer``.
    public var vendor: VendorServer?
    /// The HTTP client for all requests of the exchange.
    public var transport: any HTTPTransport = .standard

    /// A type of token, with its URI (RFC 8693 §3).
    public struct TokenType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The URI of the type.
        public let rawValue: String

        /// Creates a type from its URI, which is not checked.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An access token of the server.
        public static let accessToken = Self(rawValue: "urn:ietf:params:oauth:token-type:access_token")
        /// A refresh token of the server.
        public static let refreshToken = Self(rawValue: "urn:ietf:params:oauth:token-type:refresh_token")
        /// An ID token (OpenID Connect Core §2).
        public static let idToken = Self(rawValue: "urn:ietf:params:oauth:token-type:id_token")
        /// A SAML 1.1 assertion in base64url.
        public static let saml1 = Self(rawValue: "urn:ietf:params:oauth:token-type:saml1")
        /// A SAML 2.0 assertion in base64url.
        public static let saml2 = Self(rawValue: "urn:ietf:params:oauth:token-type:saml2")
        /// A JWT of any kind, such as an access token in that format.
        public static let jwt = Self(rawValue: "urn:ietf:params:oauth:token-type:jwt")

        /// The URI of the type.
        public var description: String { rawValue }
    }

    /// A token of any type, which is redacted when printed.
    public struct Token: Secret {
        /// The token in plain text.
        public let exposed: String
        /// The type of the token.
        public let type: TokenType

        /// Creates a token from a text of 1 byte to 64 KiB; nil if it is longer or not printable ASCII.
        public init?(_ text: String, type: TokenType) {
            guard (1...64 * 1024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                return nil
            }
            (exposed, self.type) = (text, type)
        }

        /// Creates a token of the type ``TokenType/accessToken``.
        public init(_ token: AccessToken) { (exposed, type) = (token.exposed, .accessToken) }

        /// Creates a token of the type ``TokenType/idToken``.
        public init(_ token: IDToken) { (exposed, type) = (token.exposed, .idToken) }

        /// Hashes the text alone, by which tokens are compared.
        public func hash(into hasher: inout Hasher) { hasher.combine(exposed) }
    }

    /// Prepares an exchange of a token at a server.
    public init(
        of subject: Token, issuer: Issuer, clientID: ClientIdentifier, authentication: ClientAuthentication
    ) {
        self.subject = subject
        self.issuer = issuer
        self.clientID = clientID
        self.authentication = authentication
    }

    /// Prepares an exchange of the access token of some credentials, by their client at their server.
    public init(of credentials: Credentials) {
        self.init(
            of: Token(credentials.accessToken), issuer: credentials.issuer, clientID: credentials.clientID,
            authentication: credentials.authentication)
        vendor = credentials.server
    }

    /// Sends the request and returns the new token.
    ///
    /// ``SignInError/refused(_:)`` with `invalid_request` means that the server does not accept the subject token or
    /// the actor token, and with `invalid_target` that it issues no token for the audience or the resource
    /// (RFC 8693 §2.2.2).
    public func run() async throws(SignInError) -> ExchangedToken {
        var server = try await MetadataDiscovery(transport: transport).configuration(of: issuer, or: vendor)
        // RFC 8693 §2.2.1: `issued_token_type` is required, and `token_type` is `N_A` if the token is no access token.
        server.behavior.tokenResponse.details.append("issued_token_type")
        server.behavior.tokenResponse.extraTokenTypes.insert(Self.notApplicable)
        let prover = bindsTokens ? DPoPProver(ProofKey()) : nil
        let issued = try await TokenEndpointClient(
            server: server, clientID: clientID, authentication: authentication, prover: prover, transport: transport
        ).tokens(for: parameters, isRefresh: false)
        return try exchanged(issued, at: server, prover?.key)
    }

    private static let grantType = "urn:ietf:params:oauth:grant-type:token-exchange"
    private static let notApplicable = "n_a"

    private var parameters: FormParameters {
        var form = FormParameters([
            "grant_type": Self.grantType, "subject_token": subject.exposed, "subject_token_type": subject.type.rawValue,
        ])
        form.append("actor_token", ifPresent: actor?.exposed)
        form.append("actor_token_type", ifPresent: actor?.type.rawValue)
        form.append("requested_token_type", ifPresent: requestedType?.rawValue)
        for audience in audiences { form.append("audience", audience) }
        for resource in resources { form.append("resource", resource.rawValue) }
        form.append("scope", ifPresent: scope.isEmpty ? nil : scope.description)
        return form
    }

    private func exchanged(
        _ issued: TokenEndpointClient.IssuedTokens, at server: AuthorizationServerConfiguration, _ key: ProofKey?
    ) throws(SignInError) -> ExchangedToken {
        var details = issued.details
        guard let type = details.removeValue(forKey: "issued_token_type").map({ TokenType(rawValue: $0) }),
            let token = Token(issued.tokens.accessToken.exposed, type: type)
        else { throw .unsafe(.tokenResponse(.noIssuedTokenType)) }
        if let requestedType, type != requestedType {
            // An access token may be a JWT, so a server may use either name (RFC 8693 §3).
            let names: Set<TokenType> = [.accessToken, .jwt]
            guard names == [type, requestedType] else { throw .unsafe(.tokenResponse(.otherIssuedTokenType)) }
        }
        var credentials = issued.credentials(
            of: clientID, at: server, scope: scope, resources: resources, key: key,
            time: issued.time(at: issued.received))
        credentials.apiOrigins = apiOrigins
        credentials.details = details
        let isAccessToken = issued.tokens.tokenType.lowercased() != Self.notApplicable
        return ExchangedToken(
            token: token, scope: credentials.scope, expires: credentials.expires,
            credentials: isAccessToken ? credentials : nil)
    }
}

/// The token that a server issued in an exchange (RFC 8693 §2.2.1).
public struct ExchangedToken: Sendable, Hashable {
    /// `access_token`, `issued_token_type`: the new token, which is an access token only if its type says so.
    public let token: TokenExchange.Token
    /// `scope`: the scope of the new token, which is the requested one if the server omits it.
    public let scope: Scope
    /// The expiration of the new token, by this device's clock; nil if the server did not send it.
    public let expires: Date?
    /// The credentials with which ``ResourceClient`` calls an API; nil if `token_type` is `N_A`, because the new token
    /// is then no access token.
    public let credentials: Credentials?
}
