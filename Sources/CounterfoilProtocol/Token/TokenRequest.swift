/// A request to the token endpoint, with one case for each grant type.
///
/// RFC 6749 §3.2 and §4.1.3. The value does not contain the client. Client authentication, which reads the same
/// HTTP request, identifies the client.
public enum TokenRequest: Sendable, Hashable {
    /// The exchange of an authorization code for tokens (`grant_type=authorization_code`).
    case authorizationCode(CodeExchange)
    /// The exchange of a refresh token for new tokens (`grant_type=refresh_token`).
    case refreshToken(RefreshExchange)
    /// A request for an access token for the client itself, without a user (`grant_type=client_credentials`).
    case clientCredentials(ClientCredentials)
    /// The exchange of a `device_code` for tokens (``DeviceCodeExchange/grantType``).
    case deviceCode(DeviceCodeExchange)

    /// The exchange of an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.5).
    public struct CodeExchange: Sendable, Hashable {
        /// The code that the authorization response contained (parameter `code`).
        public let code: AuthorizationCode
        /// The redirect URI of the authorization request, byte for byte (parameter `redirect_uri`); nil if omitted.
        public let redirectURI: String?
        /// The PKCE verifier (parameter `code_verifier`); nil if omitted.
        public let codeVerifier: CodeVerifier?

        /// `scope`, which the standard does not define for this grant but some clients send; nil if omitted.
        public let scope: Scope?
        /// `resource`, a subset of the resources in the authorization request; empty for all of them.
        public let resources: [Resource]

        /// Creates a code exchange; by default for all resources of the authorization request.
        public init(
            code: AuthorizationCode, redirectURI: String?, codeVerifier: CodeVerifier?, scope: Scope? = nil,
            resources: [Resource] = []
        ) {
            self.code = code
            self.scope = scope
            self.redirectURI = redirectURI
            self.codeVerifier = codeVerifier
            self.resources = resources
        }
    }

    /// The exchange of a refresh token for new tokens (RFC 6749 §6).
    public struct RefreshExchange: Sendable, Hashable {
        /// The refresh token that the client received last (parameter `refresh_token`).
        public let refreshToken: RefreshToken
        /// `scope`, a subset of the granted scope; nil for all of it.
        public let scope: Scope?
        /// `resource`, a subset of the granted resources (RFC 8707 §2.2); empty for all of them.
        public let resources: [Resource]

        /// Creates a refresh; the default is the complete granted scope and all granted resources.
        public init(refreshToken: RefreshToken, scope: Scope? = nil, resources: [Resource] = []) {
            self.refreshToken = refreshToken
            self.scope = scope
            self.resources = resources
        }
    }

    /// The client credentials grant: an access token for the client itself, without a user (RFC 6749 §4.4.2).
    public struct ClientCredentials: Sendable, Hashable {
        /// `scope`; nil for every scope that the client may request.
        public let scope: Scope?
        /// `resource` (RFC 8707 §2.2); empty for the audience that the server derives from the scope (RFC 9068 §3).
        public let resources: [Resource]

        /// Creates a client credentials request; the default is every allowed scope, and no named API.
        public init(scope: Scope? = nil, resources: [Resource] = []) {
            self.scope = scope
            self.resources = resources
        }
    }

    /// The value of the parameter `grant_type`, for example `refresh_token`.
    public var grantType: String {
        switch self {
        case .authorizationCode: "authorization_code"
        case .refreshToken: "refresh_token"
        case .clientCredentials: "client_credentials"
        case .deviceCode: DeviceCodeExchange.grantType
        }
    }

    /// Parses the body of a token request; the parameters of client authentication are ignored.
    public init(parsing form: FormParameters) throws(OAuthError) {
        switch try Self.grantType(of: form) {
        case "authorization_code":
            self = .authorizationCode(try CodeExchange(parsing: form))
        case "refresh_token":
            self = .refreshToken(try RefreshExchange(parsing: form))
        case "client_credentials":
            self = .clientCredentials(try ClientCredentials(parsing: form))
        case DeviceCodeExchange.grantType:
            self = .deviceCode(try DeviceCodeExchange(parsing: form))
        default: throw Self.unsupportedGrantType
        }
    }

    /// Reads `grant_type` from the body of a token request.
    @_spi(Counterfoil) public static func grantType(of form: FormParameters) throws(OAuthError) -> String {
        try SingleValues(form).required("grant_type")
    }

    /// The error for a `grant_type` that the server does not support (RFC 6749 §5.2).
    @_spi(Counterfoil) public static let unsupportedGrantType = OAuthError(
        .unsupportedGrantType, "this server does not support this grant_type")

    /// Returns the form parameters of the request, including the `client_id` of a public client (RFC 6749 §4.1.3).
    public func parameters(clientID: ClientIdentifier) -> FormParameters {
        var form = parameters
        form.append("client_id", clientID.rawValue)
        return form
    }

    /// The form parameters of the request, without those of client authentication.
    public var parameters: FormParameters {
        var form = FormParameters(["grant_type": grantType])
        switch self {
        case .authorizationCode(let exchange):
            form.append("code", exchange.code.exposed)
            form.append("redirect_uri", ifPresent: exchange.redirectURI)
            form.append("code_verifier", ifPresent: exchange.codeVerifier?.exposed)
            form.append("scope", ifPresent: exchange.scope?.description)
            form.append(exchange.resources)
        case .refreshToken(let exchange):
            form.append("refresh_token", exchange.refreshToken.exposed)
            form.append("scope", ifPresent: exchange.scope?.description)
            form.append(exchange.resources)
        case .clientCredentials(let request):
            form.append("scope", ifPresent: request.scope?.description)
            form.append(request.resources)
        case .deviceCode(let exchange):
            form.append("device_code", exchange.deviceCode.exposed)
            form.append("code_verifier", ifPresent: exchange.codeVerifier?.exposed)
            form.append(exchange.resources)
        }
        return form
    }
}

extension TokenRequest.CodeExchange {
    /// Parses the body of a token request with `grant_type=authorization_code`.
    public init(parsing form: FormParameters) throws(OAuthError) {
        let values = SingleValues(form)
        let resources = try form.resources()
        guard let code = AuthorizationCode(try values.required("code")) else {
            throw OAuthError(.invalidGrant, "the code was not issued by this server")
        }
        self.init(
            code: code, redirectURI: try values["redirect_uri"], codeVerifier: try values.codeVerifier(),
            scope: try values.scope(), resources: resources)
    }
}

extension TokenRequest.ClientCredentials {
    /// Parses the body of a token request with `grant_type=client_credentials`.
    public init(parsing form: FormParameters) throws(OAuthError) {
        self.init(scope: try SingleValues(form).scope(), resources: try form.resources())
    }
}

extension TokenRequest.RefreshExchange {
    /// Parses the body of a token request with `grant_type=refresh_token`.
    public init(parsing form: FormParameters) throws(OAuthError) {
        let values = SingleValues(form)
        let resources = try form.resources()
        guard let token = RefreshToken(try values.required("refresh_token")) else {
            throw OAuthError(.invalidGrant, "the refresh token was not issued by this server")
        }
        self.init(refreshToken: token, scope: try values.scope(), resources: resources)
    }
}

extension SingleValues {
    /// Parses `code_verifier` (RFC 7636 §4.5); returns nil if it is omitted.
    func codeVerifier() throws(OAuthError) -> CodeVerifier? {
        try value("code_verifier", or: "code_verifier must be 43 to 128 characters: letters, digits and - . _ ~") {
            CodeVerifier(presented: $0)
        }
    }

    /// Parses `scope`; returns nil if it is omitted.
    func scope() throws(OAuthError) -> Scope? {
        try self["scope"].map { text throws(OAuthError) in
            do { return try Scope(parsing: text) } catch { throw OAuthError(.invalidScope, "\(error)") }
        }
    }
}

extension FormParameters {
    /// Parses the values of `resource`, the only parameter that may be repeated (RFC 8707 §2), and removes duplicates.
    func resources() throws(OAuthError) -> [Resource] {
        var resources: [Resource] = []
        for text in all("resource") where !text.isEmpty {
            let resource: Resource
            do { resource = try Resource(text) } catch { throw OAuthError(.invalidTarget, "\(error)") }
            if !resources.contains(resource) { resources.append(resource) }
        }
        guard resources.count <= Resource.limit else {
            throw OAuthError(.invalidTarget, "the request contains more than \(Resource.limit) resources")
        }
        return resources
    }

    /// Appends one `resource` parameter for each resource.
    mutating func append(_ resources: [Resource]) {
        for resource in resources { append("resource", resource.rawValue) }
    }
}
