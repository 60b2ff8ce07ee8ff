public import CounterfoilPlatform
public import CounterfoilProtocol

/// A verifier of ID tokens for one client at one provider.
///
/// OpenID Connect Core §3.1.3.7. The signature is always verified, even if the token was received over TLS.
public struct IDTokenVerifier: Sendable {
    /// The parameters of the authorization request that the ID token must match.
    public struct Request: Sendable {
        /// The nonce of the authorization request (parameter `nonce`).
        public var nonce: Nonce
        /// The maximum time since the user signed in, in seconds (parameter `max_age`).
        ///
        /// Nil means no maximum.
        public var maxAge: TimeInterval?
        /// The accepted authentication contexts (parameter `acr_values`).
        ///
        /// Nil means that any context is accepted, and that `acr` may be missing.
        public var authenticationContexts: Set<String>?

        /// Creates the parameters to match; if `maxAge` or `authenticationContexts` is nil, any value is accepted.
        public init(nonce: Nonce, maxAge: TimeInterval? = nil, authenticationContexts: Set<String>? = nil) {
            self.nonce = nonce
            self.maxAge = maxAge
            self.authenticationContexts = authenticationContexts
        }
    }

    /// The claims of the first ID token of a sign-in, which the ID token of a later refresh must not contradict.
    public struct SignIn: Sendable, Hashable {
        /// The subject identifier of the user (claim `sub`).
        public var subject: String
        /// The time at which the user signed in (claim `auth_time`).
        ///
        /// Nil if the first ID token omitted the claim.
        public var authTime: Date?
        /// The nonce of the authorization request; nil accepts any nonce in the ID token of a refresh.
        public var nonce: Nonce?

        /// Creates the claims from values that the client stored when it verified the first ID token.
        public init(subject: String, authTime: Date? = nil, nonce: Nonce? = nil) {
            self.subject = subject
            self.authTime = authTime
            self.nonce = nonce
        }
    }

    private let issuer: Issuer
    private let clientID: ClientIdentifier
    private let trustedAudiences: [String]
    private let header: TokenHeader.Expectation
    private let clockSkew: TimeInterval

    /// Creates a verifier for one client at one provider.
    ///
    /// - Parameters:
    ///   - issuer: The provider; `iss` must match byte for byte.
    ///   - clientID: The client, which `aud` must contain.
    ///   - algorithms: The accepted signature algorithms: those for which the client is registered.
    ///   - trustedAudiences: The audiences that `aud` may contain in addition to the client.
    ///   - clockSkew: The tolerated difference between the clocks of provider and client, in seconds.
    public init(
        issuer: Issuer, clientID: ClientIdentifier, algorithms: Set<SigningAlgorithm> = Set(SigningAlgorithm.allCases),
        trustedAudiences: Set<String> = [], clockSkew: TimeInterval = 30
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.trustedAudiences = [clientID.rawValue] + trustedAudiences
        self.clockSkew = clockSkew
        header = TokenHeader.Expectation(types: [.idToken], mayBeUntyped: true, algorithms: algorithms)
    }

    /// Verifies the ID token of a token response, and its `at_hash` if an access token is given.
    ///
    /// `accessToken` is the access token of the same response.
    public func verify(
        _ token: IDToken, keys: JSONWebKeySet, request: Request, accessToken: AccessToken?, at now: Date
    ) throws(TokenRefusal) -> VerifiedIDToken {
        let signed = try SignedToken(parsing: token.exposed).authenticate(with: keys, expecting: header)
        var claims = try audienceChecked(signed)
        try ValidityPeriod(signed).check(at: now, clockSkew: clockSkew)
        claims.nonce = try nonce(of: signed, equals: request.nonce)
        claims.authTime = try authTime(of: signed, maxAge: request.maxAge, at: now)
        claims.authenticationContext = try authenticationContext(of: signed, oneOf: request.authenticationContexts)
        claims.accessTokenHash = try accessTokenHash(of: signed, accessToken: accessToken)
        return VerifiedIDToken(claims, signed: signed)
    }

    /// Verifies the ID token of a refresh, which must be about the same sign-in as the first ID token.
    ///
    /// OpenID Connect Core §12.2. `auth_time` and `nonce` are optional in the ID token of a refresh. If
    /// present, they must equal those of the sign-in.
    public func verifyRefreshed(
        _ token: IDToken, of signIn: SignIn, keys: JSONWebKeySet, accessToken: AccessToken?, at now: Date
    ) throws(TokenRefusal) -> VerifiedIDToken {
        let verified = try verifyDirect(token, keys: keys, accessToken: accessToken, at: now)
        guard verified.subject.hasSameBytes(as: signIn.subject) else { throw .wrongSubject }
        if let authTime = verified.authTime, let expected = signIn.authTime, authTime != expected {
            throw .wrongAuthTime
        }
        if let nonce = verified.nonce, let expected = signIn.nonce, nonce != expected { throw .wrongNonce }
        return verified
    }

    /// Verifies an ID token that the token endpoint returned for a request without a nonce.
    ///
    /// If the token contains a nonce, the result contains it, but it is not compared with anything.
    public func verifyDirect(
        _ token: IDToken, keys: JSONWebKeySet, accessToken: AccessToken?, at now: Date
    ) throws(TokenRefusal) -> VerifiedIDToken {
        let signed = try SignedToken(parsing: token.exposed).authenticate(with: keys, expecting: header)
        var claims = try audienceChecked(signed)
        try ValidityPeriod(signed).check(at: now, clockSkew: clockSkew)
        claims.nonce = try statedNonce(of: signed)
        claims.authTime = try signed.optionalDate("auth_time")
        claims.authenticationContext = try signed.optionalText("acr")
        claims.accessTokenHash = try accessTokenHash(of: signed, accessToken: accessToken)
        return VerifiedIDToken(claims, signed: signed)
    }

    /// Verifies issuer, audience, authorized party and subject (OpenID Connect Core §3.1.3.7 points 2 to 5).
    private func audienceChecked(_ signed: AuthenticClaims) throws(TokenRefusal) -> IDTokenClaims {
        // RFC 9068 §5: an access token can have the type of ID tokens.
        try signed.requireIDToken()
        guard try signed.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        let audience = try signed.audience()
        guard audience.contains(where: clientID.rawValue.hasSameBytes(as:)),
            audience.allSatisfy({ name in trustedAudiences.contains(where: name.hasSameBytes(as:)) })
        else { throw .wrongAudience }
        let party = try signed.optionalText("azp")
        guard party?.hasSameBytes(as: clientID.rawValue) ?? (audience.count == 1) else { throw .wrongAuthorizedParty }
        let subject = try signed.text("sub")
        guard IDTokenClaims.isSubject(subject) else { throw .invalidClaim("sub") }
        return IDTokenClaims(
            issuer: issuer, subject: subject, audience: audience, expires: try signed.date("exp"),
            issuedAt: try signed.date("iat"), authorizedParty: party.map { _ in clientID },
            // No check depends on `amr`, and servers exist that send it as a string.
            authenticationMethods: (try? signed.authenticationMethods()) ?? []
        )
    }

    /// Verifies that the nonce equals the nonce of the request, in constant time
    /// (OpenID Connect Core §3.1.3.7 point 11).
    private func nonce(of signed: AuthenticClaims, equals expected: Nonce) throws(TokenRefusal) -> Nonce {
        guard let nonce = Nonce(try signed.text("nonce")), nonce == expected else { throw .wrongNonce }
        return nonce
    }

    private func statedNonce(of signed: AuthenticClaims) throws(TokenRefusal) -> Nonce? {
        guard let text = try signed.optionalText("nonce") else { return nil }
        guard let nonce = Nonce(text) else { throw .invalidClaim("nonce") }
        return nonce
    }

    /// Verifies that `auth_time` is present and recent enough if the request had `max_age`
    /// (OpenID Connect Core §3.1.3.7 point 13).
    ///
    /// Without `max_age`, returns `auth_time` unverified.
    private func authTime(of signed: AuthenticClaims, maxAge: TimeInterval?, at now: Date) throws(TokenRefusal) -> Date?
    {
        guard let maxAge else { return try signed.optionalDate("auth_time") }
        let authTime = try signed.date("auth_time")
        guard authTime <= now.addingTimeInterval(clockSkew) else { throw .notYetValid }
        guard now.timeIntervalSince(authTime) <= maxAge + clockSkew else { throw .authenticationTooOld }
        return authTime
    }

    /// Verifies that `acr` is one of the accepted authentication contexts
    /// (OpenID Connect Core §3.1.3.7 point 12); nil accepts any.
    private func authenticationContext(
        of signed: AuthenticClaims, oneOf accepted: Set<String>?
    ) throws(TokenRefusal) -> String? {
        guard let accepted else { return try signed.optionalText("acr") }
        let context = try signed.text("acr")
        guard accepted.contains(where: context.hasSameBytes(as:)) else { throw .wrongAuthenticationContext }
        return context
    }

    /// Verifies that `at_hash` matches the access token (OpenID Connect Core §3.1.3.8).
    ///
    /// Returns nil without verification if the token has no `at_hash` or the caller gives no access token.
    private func accessTokenHash(of signed: AuthenticClaims, accessToken: AccessToken?) throws(TokenRefusal) -> String?
    {
        guard let stated = try signed.optionalText("at_hash"), let accessToken else { return nil }
        let expected = IDTokenClaims.accessTokenHash(of: accessToken, algorithm: signed.algorithm)
        guard ConstantTime.equals(stated, expected) else { throw .wrongAccessTokenHash }
        return stated
    }
}
