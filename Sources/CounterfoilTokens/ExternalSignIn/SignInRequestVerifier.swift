public import CounterfoilPlatform
public import CounterfoilProtocol

/// A verifier of the requests with which an authorization server has a page of its owner sign a user in.
///
/// The page must verify a request before it signs a response: another site could make it send a response for its user
/// somewhere else.
public struct SignInRequestVerifier: Sendable {
    private static let header = TokenHeader.Expectation(
        types: [.signInRequest], mayBeUntyped: false, algorithms: Set(SigningAlgorithm.allCases))

    private let issuer: Issuer
    private let page: String
    private let clockSkew: TimeInterval

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - issuer: The authorization server.
    ///   - page: The URL of the page, as the server has it in its setting.
    ///   - clockSkew: The tolerated difference between the clocks of server and page, in seconds.
    public init(issuer: Issuer, page: String, clockSkew: TimeInterval = 60) {
        self.issuer = issuer
        self.page = page
        self.clockSkew = clockSkew
    }

    /// Verifies a request with the keys that the server publishes at `jwks_uri`.
    public func verify(
        _ request: String, keys: JSONWebKeySet, at now: Date = Date()
    ) throws(TokenRefusal) -> VerifiedSignInRequest {
        let claims = try SignedToken(parsing: request).authenticate(with: keys, expecting: Self.header)
        guard try claims.text("iss").hasSameBytes(as: issuer.rawValue) else { throw .wrongIssuer }
        let audiences = try claims.audience()
        guard audiences.count == 1, audiences[0].hasSameBytes(as: page) else { throw .wrongAudience }
        let validity = try ValidityPeriod(claims)
        try validity.check(at: now, clockSkew: clockSkew)
        return VerifiedSignInRequest(
            requestID: try claims.text("jti"), responseURI: try claims.text("response_uri"),
            issuedAt: validity.issuedAt,
            clientID: try claims.optionalText("client_id").flatMap { ClientIdentifier($0) },
            clientName: try claims.optionalText("client_name"), loginHint: try claims.optionalText("login_hint"),
            prompt: try claims.words("prompt"), maxAge: try claims.optionalInteger("max_age").map(TimeInterval.init),
            contexts: try claims.words("acr_values"), languages: try claims.words("ui_locales"))
    }
}

/// A request for a sign-in that is authentic, intended for this page, and valid at the time of verification.
///
/// Only ``SignInRequestVerifier`` creates values of this type.
public struct VerifiedSignInRequest: Sendable, Hashable {
    /// The identifier of the request, which the response has as `nonce` (claim `jti`).
    public let requestID: String
    /// The URL to which the browser brings the response (claim `response_uri`).
    public let responseURI: String
    /// The time of the request (claim `iat`).
    public let issuedAt: Date
    /// The client for which the user signs in; nil for the server itself (claim `client_id`).
    public let clientID: ClientIdentifier?
    /// The name of the client (claim `client_name`).
    public let clientName: String?
    /// The name with which the user may want to sign in (claim `login_hint`).
    public let loginHint: String?
    /// The demands that the page must fulfil, such as `login` (claim `prompt`).
    public let prompt: [String]
    /// The maximum age of the sign-in in seconds (claim `max_age`).
    public let maxAge: TimeInterval?
    /// The authentication contexts that suffice, the weakest one first; empty for any (claim `acr_values`).
    public let contexts: [String]
    /// The languages of the user (claim `ui_locales`).
    public let languages: [String]

    /// Returns true if a user who has signed in at the page at a time need not sign in again.
    ///
    /// A sign-in after the request suffices for each request.
    public func accepts(signInAt time: Date) -> Bool {
        let age = issuedAt.timeIntervalSince(time)
        return prompt.contains("login") ? age <= 0 : maxAge.map { age <= $0 } ?? true
    }
}

extension AuthenticClaims {
    /// Returns the words of a claim with spaces between them; empty if it is missing.
    fileprivate func words(_ name: String) throws(TokenRefusal) -> [String] {
        try optionalText(name)?.split(separator: " ").map(String.init) ?? []
    }

    fileprivate func optionalInteger(_ name: String) throws(TokenRefusal) -> Int64? {
        switch members[name] {
        case nil: return nil
        case .integer(let integer): return integer
        default: throw .invalidClaim(name)
        }
    }
}
