public import CounterfoilPlatform
public import CounterfoilProtocol

/// A verifier of client assertions (`private_key_jwt`).
///
/// RFC 7523 §3, OpenID Connect Core §9. The verifier does not detect replay. The caller must store each
/// ``VerifiedClientAssertion/tokenID`` and reject a second use. Because the verifier accepts an assertion until `exp`
/// plus the clock skew, the caller must store the identifier at least until then.
@_spi(Counterfoil) public struct ClientAssertionVerifier: Sendable {
    /// The maximum time from the verification of an assertion to its `exp`, in seconds; the clock skew is added to it.
    ///
    /// The limit bounds the time for which the server must store a used assertion. RFC 7523 §3 allows a server to
    /// reject assertions that expire unreasonably far in the future. One hour is the default lifetime of widely used
    /// clients such as Authlib.
    public static let lifetimeLimit: TimeInterval = 3600
    /// The maximum length of `jti` in bytes; an assertion with a longer one is rejected.
    public static let identifierByteLimit = 512

    private let audiences: [String]
    private let header: TokenHeader.Expectation
    private let typedHeader: TokenHeader.Expectation
    private let clockSkew: TimeInterval

    /// Creates a verifier for a server with the given audience values.
    ///
    /// - Parameters:
    ///   - audiences: The identifiers of the server: its issuer, and the endpoint at which clients authenticate.
    ///   - algorithms: The accepted signature algorithms.
    ///   - clockSkew: The tolerated difference between the clocks of client and server, in seconds.
    public init(
        audiences: Set<String>, algorithms: Set<SigningAlgorithm> = Set(SigningAlgorithm.allCases),
        clockSkew: TimeInterval = 30
    ) {
        self.audiences = Array(audiences)
        self.clockSkew = clockSkew
        // RFC 8725 §3.1: `algorithms` cannot contain a symmetric algorithm. With one, an attacker could
        // sign an assertion with a public key as the shared secret.
        header = TokenHeader.Expectation(types: [.idToken], mayBeUntyped: true, algorithms: algorithms)
        typedHeader = TokenHeader.Expectation(
            types: [.clientAuthentication], mayBeUntyped: false, algorithms: algorithms)
    }

    /// Returns the `sub` of an unverified assertion, or nil if it cannot be read.
    ///
    /// The caller must use the result only to look up the keys of the client.
    public static func unverifiedSubject(of assertion: String) -> String? {
        guard assertion.utf8.count <= CompactToken.byteLimit else { return nil }
        return JSONReader.unverifiedClaims(of: assertion)?["sub"]?.text
    }

    /// Verifies an assertion with the registered keys of a client.
    public func verify(
        _ assertion: String, of client: ClientIdentifier, keys: JSONWebKeySet, at now: Date
    ) throws(TokenRefusal) -> VerifiedClientAssertion {
        let claims = try authenticated(assertion, keys: keys)
        // RFC 7523 §3 points 1 and 2, OpenID Connect Core §9: the client is both the issuer and the subject.
        guard try claims.text("iss").hasSameBytes(as: client.rawValue),
            try claims.text("sub").hasSameBytes(as: client.rawValue)
        else { throw .wrongIssuer }
        // RFC 7523 §3 point 3: `aud` contains only identifiers of this server. If it also contained another server,
        // that server could replay the assertion here.
        guard try claims.audience().allSatisfy({ audiences.contains(where: $0.hasSameBytes(as:)) }) else {
            throw .wrongAudience
        }
        // RFC 7523 §3 points 4 to 6: `exp`, `nbf` and `iat`.
        let expires = try claims.date("exp")
        guard now < expires.addingTimeInterval(clockSkew) else { throw .expired }
        guard expires <= now.addingTimeInterval(Self.lifetimeLimit + clockSkew) else {
            throw .lastsTooLong(limit: Int(Self.lifetimeLimit))
        }
        let begin = max(
            try claims.optionalDate("nbf") ?? .distantPast, try claims.optionalDate("iat") ?? .distantPast)
        guard begin <= now.addingTimeInterval(clockSkew) else { throw .notYetValid }
        // OpenID Connect Core §9: `jti` is required.
        let tokenID = try claims.text("jti")
        guard tokenID.utf8.count <= Self.identifierByteLimit else { throw .invalidClaim("jti") }
        return VerifiedClientAssertion(clientID: client, tokenID: tokenID, expires: expires)
    }

    /// Verifies type and signature of an assertion.
    ///
    /// Most clients omit `typ` or set it to `JWT`. Any other type must be
    /// ``TokenType/clientAuthentication``.
    private func authenticated(_ assertion: String, keys: JSONWebKeySet) throws(TokenRefusal) -> AuthenticClaims {
        let signed = try SignedToken(parsing: assertion)
        do { return try signed.authenticate(with: keys, expecting: header) } catch {
            guard error == .wrongType else { throw error }
            return try signed.authenticate(with: keys, expecting: typedHeader)
        }
    }
}

/// A client assertion that is authentic, intended for this server, and valid at the time of verification.
///
/// Only ``ClientAssertionVerifier`` creates values of this type.
@_spi(Counterfoil) public struct VerifiedClientAssertion: Sendable, Hashable {
    /// The client that issued the assertion (claims `iss` and `sub`).
    public let clientID: ClientIdentifier
    /// The unique identifier of the assertion (claim `jti`).
    public let tokenID: String
    /// The expiration time (claim `exp`); the verifier accepts the assertion until this time plus the clock skew.
    public let expires: Date
}
