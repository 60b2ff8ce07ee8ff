public import CounterfoilProtocol
public import Foundation

/// What an authorization server says in an access token.
///
/// RFC 9068 §2.2. Times are written in whole seconds.
public struct AccessTokenClaims: Sendable, Hashable {
    /// The server that issued the token; wire name `iss`.
    public var issuer: Issuer
    /// The person or, where there is none, the client that acts; wire name `sub`.
    public var subject: String
    /// The APIs that the token is for; wire name `aud`.
    public var audience: [String]
    /// The application that the token was issued to; wire name `client_id`.
    public var clientID: ClientIdentifier
    /// The time from which on the token is worth nothing; wire name `exp`.
    public var expires: Date
    /// When the token was issued; wire name `iat`.
    public var issuedAt: Date
    /// The name of this very token; wire name `jti`.
    public var tokenID: String
    /// What was granted; wire name `scope`, left out when empty.
    public var scope: Scope
    /// When the person signed in; wire name `auth_time`.
    public var authTime: Date?
    /// How the person signed in; wire name `acr` (RFC 9068 §2.2.1).
    public var authenticationContext: String?
    /// The grant at the server that the token comes from; wire name `grant_id`, a private claim.
    public var grantID: String?

    /// Collects the claims of one token.
    public init(
        issuer: Issuer, subject: String, audience: [String], clientID: ClientIdentifier, expires: Date, issuedAt: Date,
        tokenID: String, scope: Scope = Scope(), authTime: Date? = nil, authenticationContext: String? = nil,
        grantID: String? = nil
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
        self.grantID = grantID
    }

    /// The claims as JSON; RFC 9068 §2.2 names those that no token lacks.
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
            writer.claim("grant_id", grantID)
        }
        return writer.bytes
    }

    /// Reads signed claims; RFC 9068 §4 refuses a token that lacks a required one.
    init(_ claims: AuthenticClaims, issuer: Issuer, period: ValidityPeriod, audience: [String]) throws(TokenRefusal) {
        guard let clientID = ClientIdentifier(try claims.text("client_id")) else { throw .invalidClaim("client_id") }
        guard let scope = try? Scope(lenient: try claims.optionalText("scope") ?? "") else {
            throw .invalidClaim("scope")
        }
        self.init(
            issuer: issuer, subject: try claims.text("sub"), audience: audience, clientID: clientID,
            expires: period.expires, issuedAt: period.issuedAt, tokenID: try claims.text("jti"), scope: scope,
            authTime: try claims.optionalDate("auth_time"), authenticationContext: try claims.optionalText("acr"),
            grantID: try claims.optionalText("grant_id")
        )
    }
}
