public import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol

/// The claims of a logout token, with which a provider notifies a client that a session has ended.
///
/// OpenID Connect Back-Channel Logout §2.4. A logout token never contains a nonce, so that it cannot be
/// used as an ID token.
@_spi(Counterfoil) public struct LogoutTokenClaims: Sendable, Hashable {
    /// The name of the only member of `events`, which marks a logout token.
    public static let event = "http://schemas.openid.net/event/backchannel-logout"

    /// The OpenID provider that issued the token (claim `iss`).
    public var issuer: Issuer
    /// The subject identifier under which the client knows the user (claim `sub`).
    public var subject: String
    /// The client that the provider notifies (claim `aud`).
    public var clientID: ClientIdentifier
    /// The time at which the token was issued (claim `iat`).
    public var issuedAt: Date
    /// The expiration time (claim `exp`).
    ///
    /// OpenID Connect Back-Channel Logout recommends at most two minutes after ``issuedAt``.
    public var expires: Date
    /// The unique identifier of the token (claim `jti`).
    public var tokenID: String
    /// The identifier of the session that has ended (claim `sid`).
    public var sessionID: String

    /// Creates the claims of a token.
    public init(
        issuer: Issuer, subject: String, clientID: ClientIdentifier, issuedAt: Date, expires: Date, tokenID: String,
        sessionID: String
    ) {
        self.issuer = issuer
        self.subject = subject
        self.clientID = clientID
        self.issuedAt = issuedAt
        self.expires = expires
        self.tokenID = tokenID
        self.sessionID = sessionID
    }

    /// Encodes the claims as JSON.
    ///
    /// - Throws: ``SigningKey/Failure/unusableClaim(_:)`` if `sub` is not a valid subject identifier, `jti` is empty,
    ///   or a time is out of range.
    func json() throws(SigningKey.Failure) -> [UInt8] {
        guard IDTokenClaims.isSubject(subject) else { throw .unusableClaim("sub") }
        guard !tokenID.isEmpty else { throw .unusableClaim("jti") }
        var writer = JSONWriter()
        try writer.object { (writer: inout JSONWriter) throws(SigningKey.Failure) in
            writer.claim("iss", issuer.rawValue)
            writer.claim("sub", subject)
            try writer.claim(audience: [clientID.rawValue])
            try writer.claim("iat", issuedAt)
            try writer.claim("exp", expires)
            writer.claim("jti", tokenID)
            writer.claim("sid", sessionID)
            writer.member("events", object: { events in events.member(Self.event, object: { _ in }) })
        }
        return writer.bytes
    }
}
