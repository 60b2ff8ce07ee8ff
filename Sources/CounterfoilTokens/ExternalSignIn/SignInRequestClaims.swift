public import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol

/// The claims of the request by which a server has the page of its owner sign a user in.
@_spi(Counterfoil) public struct SignInRequestClaims: Sendable, Hashable {
    /// The server (claim `iss`).
    public var issuer: Issuer
    /// The URL of the page (claim `aud`).
    public var audience: String
    /// The identifier of the request, which the page returns as `nonce` (claim `jti`).
    public var requestID: String
    /// The time of the request (claim `iat`).
    public var issuedAt: Date
    /// The time from which the page must refuse the request (claim `exp`).
    public var expires: Date
    /// The URL to which the page sends the browser back (claim `response_uri`).
    public var responseURI: String
    /// The client for which the user signs in; nil for the server itself (claim `client_id`).
    public var clientID: ClientIdentifier?
    /// The name of the client (claim `client_name`).
    public var clientName: String?
    /// The name with which the user may want to sign in (claim `login_hint`).
    public var loginHint: String?
    /// The demands that the page must fulfil, such as `login` (claim `prompt`).
    public var prompt: [String] = []
    /// The maximum age of the sign-in in seconds (claim `max_age`).
    public var maxAge: Int?
    /// The authentication contexts that are asked for, with spaces between them (claim `acr_values`).
    public var contexts: [String] = []
    /// The languages of the user, with spaces between them (claim `ui_locales`).
    public var languages: [String] = []

    /// Creates the claims of a request without demands.
    public init(
        issuer: Issuer, audience: String, requestID: String, issuedAt: Date, expires: Date, responseURI: String
    ) {
        self.issuer = issuer
        self.audience = audience
        self.requestID = requestID
        self.issuedAt = issuedAt
        self.expires = expires
        self.responseURI = responseURI
    }

    /// Encodes the claims as JSON.
    ///
    /// - Throws: ``SigningKey/Failure/unusableClaim(_:)`` if a time is out of range.
    func json() throws(SigningKey.Failure) -> [UInt8] {
        func words(_ list: [String]) -> String? { list.isEmpty ? nil : list.joined(separator: " ") }
        var writer = JSONWriter()
        try writer.object { (writer: inout JSONWriter) throws(SigningKey.Failure) in
            writer.claim("iss", issuer.rawValue)
            try writer.claim(audience: [audience])
            writer.claim("jti", requestID)
            try writer.claim("iat", issuedAt)
            try writer.claim("exp", expires)
            writer.claim("response_uri", responseURI)
            writer.claim("client_id", clientID?.rawValue)
            writer.claim("client_name", clientName)
            writer.claim("login_hint", loginHint)
            writer.claim("prompt", words(prompt))
            if let maxAge { writer.member("max_age", Int64(maxAge)) }
            writer.claim("acr_values", words(contexts))
            writer.claim("ui_locales", words(languages))
        }
        return writer.bytes
    }
}

extension SigningKey {
    /// Signs the request for the page of an owner.
    @_spi(Counterfoil) public func sign(_ claims: SignInRequestClaims) throws -> String {
        try sign(json: claims.json(), type: .signInRequest)
    }
}
