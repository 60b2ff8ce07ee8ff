public import CounterfoilPlatform
public import CounterfoilProtocol

/// A verifier of JWT access tokens for one API.
///
/// RFC 9068 §4.
public struct AccessTokenVerifier: Sendable {
    private let issuer: Issuer
    private let audience: String
    private let header: TokenHeader.Expectation
    private let clockSkew: TimeInterval
    /// The audience as a resource indicator; nil if another spelling of it is refused.
    private var resource: Resource?

    /// Creates a verifier for the tokens that one issuer issues for one audience.
    ///
    /// - Parameters:
    ///   - issuer: The accepted issuer; `iss` must match byte for byte.
    ///   - audience: The identifier of the API, which `aud` must contain.
    ///   - type: The type of the tokens. With ``AccessTokenType/jwt``, tokens of the type `at+jwt` are accepted too,
    ///     because a server uses that type for a token with several audiences, and before a change of the setting.
    ///   - algorithms: The accepted signature algorithms.
    ///   - clockSkew: The tolerated difference between the clocks of issuer and verifier, in seconds.
    public init(
        issuer: Issuer, audience: String, type: AccessTokenType = .atJWT,
        algorithms: Set<SigningAlgorithm> = Set(SigningAlgorithm.allCases), clockSkew: TimeInterval = 30
    ) {
        self.issuer = issuer
        self.audience = audience
        self.clockSkew = clockSkew
        let types: [TokenType] =
            switch type {
            case .atJWT: [.accessToken]
            case .jwt: AccessTokenType.allCases.map(\.header)
            }
        header = TokenHeader.Expectation(types: types, mayBeUntyped: false, algorithms: algorithms)
    }

    /// Returns a verifier that accepts every spelling of its audience that is equal as a `Resource`.
    ///
    /// RFC 9068 §4: `aud` contains an identifier that the API expects for itself. Without this function, the audience
    /// must match byte for byte.
    @_spi(Counterfoil) public func acceptingEqualResources() -> AccessTokenVerifier {
        var verifier = self
        verifier.resource = try? Resource(audience)
        return verifier
    }

    /// Verifies a bearer token with the keys of its issuer; a token that is bound to a key is refused.
    ///
    /// After ``TokenRefusal/unknownKey(_:)``, the caller can fetch the keys again and retry. The caller must limit
    /// the rate at which it fetches keys, because an attacker can send any number of tokens with unknown keys.
    public func verify(
        _ token: String, keys: JSONWebKeySet, at now: Date
    ) throws(TokenRefusal) -> VerifiedAccessToken {
        try verify(token, keys: keys, provenKey: nil, at: now)
    }

    /// Verifies an access token with the keys of its issuer.
    ///
    /// A token that is bound to a key is accepted only with a proof of this key, and a proof is accepted only with a
    /// token that is bound to its key (RFC 9449 §7.1).
    ///
    /// - Parameter provenKey: The key of the verified proof in the request; nil if the request contains none.
    @_spi(Counterfoil) public func verify(
        _ token: String, keys: JSONWebKeySet, provenKey: KeyThumbprint?, at now: Date
    ) throws(TokenRefusal) -> VerifiedAccessToken {
        let claims = try SignedToken(parsing: token).authenticate(with: keys, expecting: header)
        try claims.requireAccessToken()
        // RFC 9068 §4: `iss` matches exactly, `aud` contains this audience, and the current time is before `exp`.
        guard try claims.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        let audience = try claims.audience()
        guard audience.contains(where: isExpected) else { throw .wrongAudience }
        let period = try ValidityPeriod(claims)
        let verified = try AccessTokenClaims(claims, issuer: issuer, period: period, audience: audience)
        try verified.requireProof(of: provenKey)
        try period.check(at: now, clockSkew: clockSkew)
        return VerifiedAccessToken(verified, signed: claims)
    }

    private func isExpected(_ audience: String) -> Bool {
        if self.audience.hasSameBytes(as: audience) { return true }
        guard let resource else { return false }
        return (try? Resource(audience)) == resource
    }
}
