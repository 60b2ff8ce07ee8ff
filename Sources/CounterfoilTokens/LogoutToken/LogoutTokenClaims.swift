package import CounterfoilProtocol
package import Foundation

/// The claims of a logout token, with which a provider notifies a client that a session has ended.
///
/// OpenID Connect Back-Channel Logout §2.4. A logout token never contains a nonce, so that it cannot be
/// used as an ID token.
package struct LogoutTokenClaims: Sendable, Hashable {
    /// The only member of `events`.
    package static let event = "http://schemas.openid.net/event/backchannel-logout"

    /// The OpenID provider; wire name `iss`.
    package var issuer: Issuer
    /// The subject identifier of the user, as the client knows it; wire name `sub`.
    package var subject: String
    /// The client; wire name `aud`.
    package var clientID: ClientIdentifier
    /// The time at which the token was issued; wire name `iat`.
    package var issuedAt: Date
    /// The expiration time; wire name `exp`.
    ///
    /// The standard recommends at most two minutes after ``issuedAt``.
    package var expires: Date
    /// The unique identifier of the token; wire name `jti`.
    package var tokenID: String
    /// The session that has ended; wire name `sid`.
    package var sessionID: String

    /// Creates the claims of one token.
    package init(
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
