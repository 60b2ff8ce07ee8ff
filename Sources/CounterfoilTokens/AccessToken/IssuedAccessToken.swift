public import CounterfoilPlatform
public import CounterfoilProtocol

/// An access token whose type, signature and issuer have been verified by the issuer itself.
///
/// Only ``IssuedAccessTokenVerifier`` creates values of this type. The token can have any audience, can have expired,
/// and can have been revoked. Only the issuer can check the revocation, in its store.
@_spi(Counterfoil) public struct IssuedAccessToken: Sendable, Hashable {
    /// The claims of the token.
    public let claims: AccessTokenClaims
    let period: ValidityPeriod

    /// Returns true if the token is within its validity period.
    ///
    /// The clock skew is zero, because the issuer set the times of the token by its own clock.
    public func isCurrent(at now: Date) -> Bool { period.holds(at: now) }
}

/// A verifier of access tokens for the endpoints of the issuer itself, such as revocation and introspection.
///
/// RFC 7009 §2 and RFC 7662 §2. An API uses ``AccessTokenVerifier`` instead, which also verifies the audience.
@_spi(Counterfoil) public struct IssuedAccessTokenVerifier: Sendable {
    private let issuer: Issuer
    private let header: TokenHeader.Expectation

    /// Creates a verifier of tokens that an issuer has signed with one of the algorithms.
    public init(issuer: Issuer, algorithms: Set<SigningAlgorithm> = Set(SigningAlgorithm.allCases)) {
        self.issuer = issuer
        header = TokenHeader.Expectation(
            types: AccessTokenType.allCases.map(\.header), mayBeUntyped: false, algorithms: algorithms)
    }

    /// Verifies type, signature and issuer of an access token, but neither its audience nor its validity period.
    ///
    /// Both values of ``AccessTokenType`` are accepted. An ID token is refused by its claims (RFC 9068 §5).
    ///
    /// The validity period is read, and ``IssuedAccessToken/isCurrent(at:)`` checks it later.
    public func verify(_ token: AnyToken, keys: JSONWebKeySet) throws(TokenRefusal) -> IssuedAccessToken {
        let claims = try SignedToken(parsing: token.exposed).authenticate(with: keys, expecting: header)
        try claims.requireAccessToken()
        guard try claims.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        let period = try ValidityPeriod(claims)
        return IssuedAccessToken(
            claims: try AccessTokenClaims(claims, issuer: issuer, period: period, audience: try claims.audience()),
            period: period)
    }
}
