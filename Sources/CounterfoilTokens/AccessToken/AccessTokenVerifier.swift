public import CounterfoilProtocol

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A verifier of JWT access tokens for one API.
///
/// RFC 9068 §4.
public struct AccessTokenVerifier: Sendable {
    private let issuer: Issuer
    private let audience: String
    private let header: TokenHeader.Expectation
    private let clockSkew: TimeInterval

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
        algorithms: Set<SigningAlgorithm> = [.es256, .rs256, .edDSA], clockSkew: TimeInterval = 30
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

    /// Verifies an access token with the keys of its issuer.
    ///
    /// After ``TokenRefusal/unknownKey(_:)``, the caller can fetch the keys again and retry. The caller must limit
    /// the rate at which it fetches keys, because an attacker can send any number of tokens with unknown keys.
    public func verify(
        _ token: String, keys: JSONWebKeySet, at now: Date
    ) throws(TokenRefusal) -> VerifiedAccessToken {
        let claims = try SignedToken(parsing: token).authenticate(with: keys, expecting: header)
        try claims.requireAccessToken()
        // RFC 9068 §4: `iss` matches exactly, `aud` contains this audience, and the current time is before `exp`.
        guard try claims.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        let audience = try claims.audience()
        guard audience.contains(where: self.audience.hasSameBytes(as:)) else { throw .wrongAudience }
        // RFC 9449 §7.2: a token that is bound to a key (`cnf`) is not valid as a bearer token. If it were
        // accepted, a thief could use the token without a proof of possession.
        guard claims.members["cnf"] == nil else { throw .boundToKey }
        let period = try ValidityPeriod(claims)
        try period.check(at: now, clockSkew: clockSkew)
        return VerifiedAccessToken(
            try AccessTokenClaims(claims, issuer: issuer, period: period, audience: audience)
        )
    }
}
