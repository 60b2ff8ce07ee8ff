public import CounterfoilProtocol

/// An ID token that its issuer once gave and that comes back to say whom a request means.
///
/// Only ``IDTokenHintVerifier`` makes one. It proves nothing about who asks: whoever has seen the token can send it.
public struct IDTokenHint: Sendable, Hashable {
    /// The person, by the name that the client knows; wire name `sub`.
    public let subject: String
    /// The client that the token was issued to, and whoever else it was for; wire name `aud`.
    public let audience: [String]
    /// The session in which the person signed in; wire name `sid`, nil where the token names none.
    public let sessionID: String?

    fileprivate init(_ claims: AuthenticClaims) throws(TokenRefusal) {
        subject = try claims.text("sub")
        audience = try claims.audience()
        sessionID = try claims.optionalText("sid")
    }
}

/// Verifies ID tokens for the issuer that gave them.
///
/// OpenID Connect Core §3.1.2.1 and OpenID Connect RP-Initiated Logout §2: the signature must be the issuer's own, and a token that
/// has expired is taken all the same.
public struct IDTokenHintVerifier: Sendable {
    private let issuer: Issuer
    private let header = TokenHeader.Expectation(
        type: .idToken, mayBeUntyped: true, algorithms: [.es256, .rs256, .edDSA])

    /// A verifier of the tokens of an issuer.
    public init(issuer: Issuer) { self.issuer = issuer }

    /// Verifies a token with the keys of the issuer.
    public func verify(_ token: IDToken, keys: JSONWebKeySet) throws(TokenRefusal) -> IDTokenHint {
        let claims = try SignedToken(parsing: token.exposed).authenticate(with: keys, expecting: header)
        guard try claims.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        return try IDTokenHint(claims)
    }
}
