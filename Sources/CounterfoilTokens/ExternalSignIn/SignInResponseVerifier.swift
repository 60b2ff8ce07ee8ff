public import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol

/// A verifier of the responses with which the page of an owner returns a user whom it has signed in.
///
/// The verifier does not detect replay, and does not know the requests. The caller must compare
/// ``VerifiedSignInResponse/requestID`` with that of the browser, and accept each request once.
@_spi(Counterfoil) public struct SignInResponseVerifier: Sendable {
    /// The maximum time from the verification of a response to its `exp`, in seconds; the clock skew is added to it.
    public static let lifetimeLimit: TimeInterval = 600
    /// The maximum length of `sub` in bytes (OpenID Connect Core §8).
    public static let subjectByteLimit = 255

    private static let header = TokenHeader.Expectation(
        types: [.signInResponse], mayBeUntyped: false, algorithms: Set(SigningAlgorithm.allCases))

    private let issuer: String
    private let audience: Issuer
    private let clockSkew: TimeInterval

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - issuer: The `iss` of the page.
    ///   - audience: The server.
    ///   - clockSkew: The tolerated difference between the clocks of page and server, in seconds.
    public init(issuer: String, audience: Issuer, clockSkew: TimeInterval = 60) {
        self.issuer = issuer
        self.audience = audience
        self.clockSkew = clockSkew
    }

    /// Verifies a response with the keys of the page.
    public func verify(
        _ response: String, keys: JSONWebKeySet, at now: Date
    ) throws(TokenRefusal) -> VerifiedSignInResponse {
        let claims = try SignedToken(parsing: response).authenticate(with: keys, expecting: Self.header)
        guard try claims.text("iss").hasSameBytes(as: issuer) else { throw .wrongIssuer }
        // A response for several audiences could be replayed by one of them.
        let audiences = try claims.audience()
        guard audiences.count == 1, audiences[0].hasSameBytes(as: audience.rawValue) else { throw .wrongAudience }
        let expires = try checkedExpiry(of: claims, at: now)
        let requestID = try claims.text("nonce")
        if let error = try claims.optionalText("error") {
            return VerifiedSignInResponse(requestID: requestID, expires: expires, result: .refused(error: error))
        }
        let subject = try claims.text("sub")
        guard subject.utf8.count <= Self.subjectByteLimit else { throw .invalidClaim("sub") }
        let authenticatedAt = try claims.date("auth_time")
        guard authenticatedAt <= now.addingTimeInterval(clockSkew) else { throw .notYetValid }
        let user = VerifiedSignInResponse.SignedInUser(
            subject: subject, authenticatedAt: min(authenticatedAt, now), context: try claims.optionalText("acr"),
            methods: try claims.authenticationMethods(), texts: claims.members.compactMapValues(\.text),
            isEmailVerified: claims.members["email_verified"] == .boolean(true))
        return VerifiedSignInResponse(requestID: requestID, expires: expires, result: .signedIn(user))
    }

    private func checkedExpiry(of claims: AuthenticClaims, at now: Date) throws(TokenRefusal) -> Date {
        let validity = try ValidityPeriod(claims)
        try validity.check(at: now, clockSkew: clockSkew)
        guard validity.expires <= now.addingTimeInterval(Self.lifetimeLimit + clockSkew) else {
            throw .lastsTooLong(limit: Int(Self.lifetimeLimit))
        }
        return validity.expires.addingTimeInterval(clockSkew)
    }
}

/// A response of the page that is authentic, intended for this server, and valid at the time of verification.
///
/// Only ``SignInResponseVerifier`` creates values of this type.
@_spi(Counterfoil) public struct VerifiedSignInResponse: Sendable, Hashable {
    /// The identifier of the request that the page answers (claim `nonce`).
    public let requestID: String
    /// The time from which the verifier refuses the response.
    public let expires: Date
    /// The answer of the page.
    public let result: Result

    /// The answer of a page.
    public enum Result: Sendable, Hashable {
        /// The page has signed the user in.
        case signedIn(SignedInUser)
        /// The page has signed no user in; the code can be any text (claim `error`).
        case refused(error: String)
    }

    /// A user whom the page has signed in.
    public struct SignedInUser: Sendable, Hashable {
        /// The identifier of the user at the page, 1 to 255 bytes (claim `sub`).
        public let subject: String
        /// The time of the sign-in, at most that of the verification (claim `auth_time`).
        public let authenticatedAt: Date
        /// The authentication context; nil if the page states none (claim `acr`).
        public let context: String?
        /// The methods of the sign-in, as the page states them (claim `amr`).
        public let methods: [String]
        /// The claims that are strings, by name, such as `email`, as the page states them.
        public let texts: [String: String]
        /// Whether the page has verified the email address (claim `email_verified`).
        public let isEmailVerified: Bool
    }
}
