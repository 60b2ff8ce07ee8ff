public import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol

/// The claims of a JWT access token.
///
/// RFC 9068 §2.2. Times are encoded in whole seconds.
public struct AccessTokenClaims: Sendable, Hashable {
    /// The server that issued the token (claim `iss`).
    public var issuer: Issuer
    /// The user, or the client if the grant involves no user (claim `sub`).
    public var subject: String
    /// The APIs that the token is intended for (claim `aud`).
    public var audience: [String]
    /// The client that the token was issued to (claim `client_id`).
    public var clientID: ClientIdentifier
    /// The time from which verifiers reject the token (claim `exp`).
    public var expires: Date
    /// The time at which the token was issued (claim `iat`); verifiers reject a time in the future.
    public var issuedAt: Date
    /// The unique identifier of the token (claim `jti`).
    public var tokenID: String
    /// The granted scope (claim `scope`, omitted if empty).
    public var scope: Scope
    /// The time at which the user signed in (claim `auth_time`, RFC 9068 §2.2.1); nil if no user is involved.
    public var authTime: Date?
    /// The authentication context of the sign-in (claim `acr`, RFC 9068 §2.2.1); nil if no user is involved.
    public var authenticationContext: String?
    /// The methods by which the user signed in (claim `amr`, RFC 8176); empty if no user is involved.
    public var authenticationMethods: [String]
    /// The identifier of the grant, the permission that the user gave the client (private claim `grant_id`).
    ///
    /// The server reads the claim to check or revoke the grant of a token. Nil if no user is involved.
    public var grantID: String?

    /// The thumbprint of the key to which the token is bound (member `jkt` of the claim `cnf`, RFC 9449 §6.1).
    ///
    /// Nil if the token is a bearer token.
    public var keyThumbprint: KeyThumbprint?
    /// The claims about the user, such as `groups` (RFC 9068 §2.2.2 and §2.2.3.1).
    ///
    /// They are only written. An API reads those of a token with ``VerifiedAccessToken/text(of:)`` and
    /// ``VerifiedAccessToken/texts(of:)``.
    public var user: UserClaims

    /// Creates the claims of one token; claims that are nil are omitted.
    public init(
        issuer: Issuer, subject: String, audience: [String], clientID: ClientIdentifier, expires: Date, issuedAt: Date,
        tokenID: String, scope: Scope = Scope(), authTime: Date? = nil, authenticationContext: String? = nil,
        authenticationMethods: [String] = [], grantID: String? = nil, keyThumbprint: KeyThumbprint? = nil,
        user: UserClaims = UserClaims()
    ) {
        self.issuer = issuer
        self.subject = subject
        self.audience = audience
        self.clientID = clientID
        self.expires = expires
        self.issuedAt = issuedAt
        self.tokenID = tokenID
        self.scope = scope
        self.authTime = authTime
        self.authenticationContext = authenticationContext
        self.authenticationMethods = authenticationMethods
        self.grantID = grantID
        self.keyThumbprint = keyThumbprint
        self.user = user
    }

    /// Encodes the claims as JSON.
    ///
    /// - Throws: ``SigningKey/Failure/unusableClaim(_:)`` if a claim that RFC 9068 §2.2 requires is empty,
    ///   or if a time is out of range.
    func json() throws(SigningKey.Failure) -> [UInt8] {
        guard !subject.isEmpty else { throw .unusableClaim("sub") }
        guard !tokenID.isEmpty else { throw .unusableClaim("jti") }
        var writer = JSONWriter()
        try writer.object { (writer: inout JSONWriter) throws(SigningKey.Failure) in
            writer.claim("iss", issuer.rawValue)
            writer.claim("sub", subject)
            try writer.claim(audience: audience)
            writer.claim("client_id", clientID.rawValue)
            try writer.claim("exp", expires)
            try writer.claim("iat", issuedAt)
            writer.claim("jti", tokenID)
            writer.claim("scope", scope.isEmpty ? nil : scope.description)
            try writer.claim("auth_time", authTime)
            writer.claim("acr", authenticationContext)
            writer.claim(authenticationMethods: authenticationMethods)
            writer.claim("grant_id", grantID)
            if let keyThumbprint {
                writer.member("cnf", object: { writer in writer.member("jkt", keyThumbprint.rawValue) })
            }
            try writer.claims(user)
        }
        return writer.bytes
    }

    /// Reads the claims of an authentic token, except issuer, validity period and audiences, which the caller passes,
    /// and ``user``.
    ///
    /// - Throws: A ``TokenRefusal`` if a claim that RFC 9068 §4 requires is missing or malformed.
    init(_ claims: AuthenticClaims, issuer: Issuer, period: ValidityPeriod, audience: [String]) throws(TokenRefusal) {
        guard let clientID = ClientIdentifier(try claims.text("client_id")) else { throw .invalidClaim("client_id") }
        guard let scope = try? Scope(lenient: try claims.optionalText("scope") ?? "") else {
            throw .invalidClaim("scope")
        }
        self.init(
            issuer: issuer, subject: try claims.text("sub"), audience: audience, clientID: clientID,
            expires: period.expires, issuedAt: period.issuedAt, tokenID: try claims.text("jti"), scope: scope,
            authTime: try claims.optionalDate("auth_time"), authenticationContext: try claims.optionalText("acr"),
            authenticationMethods: try claims.authenticationMethods(), grantID: try claims.optionalText("grant_id"),
            keyThumbprint: try claims.keyThumbprint()
        )
    }
}

extension AuthenticClaims {
    /// Returns the thumbprint of the key to which an access token is bound (RFC 9449 §6.1); nil if it has no `cnf`.
    ///
    /// A `cnf` with another method of confirmation, such as a certificate (RFC 8705 §3.1), is refused, because nothing
    /// here could verify it.
    fileprivate func keyThumbprint() throws(TokenRefusal) -> KeyThumbprint? {
        guard let confirmation = members["cnf"] else { return nil }
        guard case .object(let methods) = confirmation, methods.count == 1, case .string(let text)? = methods["jkt"],
            let thumbprint = KeyThumbprint(text)
        else { throw .invalidClaim("cnf") }
        return thumbprint
    }
}
