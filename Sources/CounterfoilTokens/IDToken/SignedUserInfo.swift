public import CounterfoilPlatform
public import CounterfoilProtocol

/// A verifier of UserInfo responses that the server signs (OpenID Connect Core §5.3.2, `application/jwt`).
@_spi(Counterfoil) public struct SignedUserInfoVerifier: Sendable {
    private let issuer: Issuer
    private let clientID: ClientIdentifier
    private let clockSkew: TimeInterval

    /// Creates a verifier for one client at one provider; `clockSkew` is in seconds.
    public init(issuer: Issuer, clientID: ClientIdentifier, clockSkew: TimeInterval = 30) {
        self.issuer = issuer
        self.clientID = clientID
        self.clockSkew = clockSkew
    }

    /// Verifies a response and returns its claims about the user.
    ///
    /// The signature is required. `iss`, `aud` and `exp` are optional in a UserInfo response; if present, they must be
    /// valid. The result contains none of the claims about the response itself.
    public func verify(
        _ response: String, keys: JSONWebKeySet, at now: Date
    ) throws(TokenRefusal) -> [String: JSONValue] {
        let header = TokenHeader.Expectation(
            types: [.idToken], mayBeUntyped: true, algorithms: Set(SigningAlgorithm.allCases))
        let signed = try SignedToken(parsing: response).authenticate(with: keys, expecting: header)
        if let stated = try signed.optionalText("iss") {
            guard stated.hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        }
        if signed.members["aud"] != nil {
            guard try signed.audience().contains(where: clientID.rawValue.hasSameBytes(as:)) else {
                throw .wrongAudience
            }
        }
        if let expires = try signed.optionalDate("exp") {
            guard expires.addingTimeInterval(clockSkew) > now else { throw .expired }
        }
        return signed.members.filter { !Self.ownClaims.contains($0.key) }
    }

    private static let ownClaims: Set = ["iss", "aud", "exp", "iat", "nbf", "jti"]
}
