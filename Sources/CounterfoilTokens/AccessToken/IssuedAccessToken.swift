public import CounterfoilProtocol
public import Foundation

/// An access token that an issuer knows as its own, for whichever API it is, and whether or not it is over.
///
/// Only ``IssuedAccessTokenVerifier`` makes one. Whether it still counts is for the issuer to say, who knows what was revoked.
public struct IssuedAccessToken: Sendable, Hashable {
    /// What the issuer has written into it.
    public let claims: AccessTokenClaims
    private let period: ValidityPeriod

    init(_ claims: AccessTokenClaims, period: ValidityPeriod) {
        self.claims = claims
        self.period = period
    }

    /// Whether it is within its times, by the clock that wrote them.
    public func isCurrent(at now: Date) -> Bool { period.holds(at: now) }
}

/// Knows the access tokens of an issuer, for the endpoints at which the issuer itself is asked about them.
///
/// RFC 7009 §2 and RFC 7662 §2. An API uses ``AccessTokenVerifier``, which also looks whether the token is for it.
public struct IssuedAccessTokenVerifier: Sendable {
    private let issuer: Issuer
    private let header: TokenHeader.Expectation

    /// A verifier of the tokens of one issuer.
    public init(issuer: Issuer, algorithms: Set<SigningAlgorithm> = [.es256, .rs256, .edDSA]) {
        self.issuer = issuer
        header = TokenHeader.Expectation(type: .accessToken, mayBeUntyped: false, algorithms: algorithms)
    }

    /// Verifies type, signature and issuer by the keys of the issuer; the times are read, not judged.
    public func verify(_ token: AnyToken, keys: JSONWebKeySet) throws(TokenRefusal) -> IssuedAccessToken {
        let claims = try SignedToken(parsing: token.exposed).authenticate(with: keys, expecting: header)
        guard try claims.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        let period = try ValidityPeriod(claims)
        return IssuedAccessToken(
            try AccessTokenClaims(claims, issuer: issuer, period: period, audience: try claims.audience()),
            period: period)
    }
}
