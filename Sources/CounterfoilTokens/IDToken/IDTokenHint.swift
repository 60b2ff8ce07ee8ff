public import CounterfoilProtocol

/// An ID token that a client sends back to its issuer to identify a user.
///
/// Only ``IDTokenHintVerifier`` creates values of this type. A hint does not authenticate the sender,
/// because any holder of the token can send it.
@_spi(Counterfoil) public struct IDTokenHint: Sendable, Hashable {
    /// The subject identifier under which the client knows the user (claim `sub`).
    public let subject: String
    /// The audiences of the token, which include its client (claim `aud`).
    public let audience: [String]
    /// The identifier of the user's session (claim `sid`); nil if the token has none.
    public let sessionID: String?

    fileprivate init(_ claims: AuthenticClaims) throws(TokenRefusal) {
        subject = try claims.text("sub")
        audience = try claims.audience()
        sessionID = try claims.optionalText("sid")
    }
}

/// A verifier of the ID tokens that clients send back to their issuer as `id_token_hint`.
///
/// OpenID Connect Core §3.1.2.1 and OpenID Connect RP-Initiated Logout §2. The issuer itself must have
/// signed the token. An expired token is accepted.
@_spi(Counterfoil) public struct IDTokenHintVerifier: Sendable {
    private let issuer: Issuer
    private let header = TokenHeader.Expectation(
        types: [.idToken], mayBeUntyped: true, algorithms: Set(SigningAlgorithm.allCases))

    /// Creates a verifier of hints from an issuer.
    public init(issuer: Issuer) { self.issuer = issuer }

    /// Verifies type, signature and issuer of a token with the keys of the issuer.
    ///
    /// An access token is refused, also if its type is `JWT` (RFC 9068 §5).
    public func verify(_ token: IDToken, keys: JSONWebKeySet) throws(TokenRefusal) -> IDTokenHint {
        let claims = try SignedToken(parsing: token.exposed).authenticate(with: keys, expecting: header)
        try claims.requireIDToken()
        guard try claims.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        return try IDTokenHint(claims)
    }
}
