public import CounterfoilProtocol
public import Foundation

/// Verifies JWT access tokens for one API.
///
/// RFC 9068 §4.
public struct AccessTokenVerifier: Sendable {
    private let issuer: Issuer
    private let audience: String
    private let header: TokenHeader.Expectation
    private let clockSkew: TimeInterval

    /// A verifier for the tokens of one issuer to one audience; clocks may differ by some seconds.
    public init(
        issuer: Issuer, audience: String, algorithms: Set<SigningAlgorithm> = [.es256, .rs256, .edDSA],
        clockSkew: TimeInterval = 30
    ) {
        self.issuer = issuer
        self.audience = audience
        self.clockSkew = clockSkew
        header = TokenHeader.Expectation(type: .accessToken, mayBeUntyped: false, algorithms: algorithms)
    }

    /// Verifies a token as it came with a request, by the keys of its issuer.
    ///
    /// After ``TokenRefusal/unknownKey(_:)`` the keys may be fetched again, at a bounded rate, and the token tried once more.
    public func verify(
        _ token: String, keys: JSONWebKeySet, at now: Date
    ) throws(TokenRefusal) -> VerifiedAccessToken {
        let claims = try SignedToken(parsing: token).authenticate(with: keys, expecting: header)
        // RFC 9068 §4: the issuer exactly, the audience among those named, the time before `exp`.
        guard try claims.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        let audience = try claims.audience()
        guard audience.contains(where: self.audience.hasSameBytes(as:)) else { throw .wrongAudience }
        // RFC 9449 §7.2: a bound token is none for a bearer, or a thief could leave the proof out.
        guard claims.members["cnf"] == nil else { throw .boundToKey }
        let period = try ValidityPeriod(claims)
        try period.check(at: now, clockSkew: clockSkew)
        return VerifiedAccessToken(
            try AccessTokenClaims(claims, issuer: issuer, period: period, audience: audience)
        )
    }
}
