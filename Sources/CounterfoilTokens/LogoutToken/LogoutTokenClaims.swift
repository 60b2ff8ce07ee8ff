public import CounterfoilProtocol
public import Foundation

/// What an OpenID provider tells an application of a session that has ended.
///
/// OpenID Connect Back-Channel Logout §2.4. It never holds a nonce, so that it cannot pass for an ID token.
public struct LogoutTokenClaims: Sendable, Hashable {
    /// The one event that it tells of, a member of `events`.
    public static let event = "http://schemas.openid.net/event/backchannel-logout"

    /// The provider; wire name `iss`.
    public var issuer: Issuer
    /// Whose session it was, by the name that the application knows; wire name `sub`.
    public var subject: String
    /// The application; wire name `aud`.
    public var clientID: ClientIdentifier
    /// When the token was issued; wire name `iat`.
    public var issuedAt: Date
    /// The time from which on the token is not accepted, two minutes later at most; wire name `exp`.
    public var expires: Date
    /// The name of this very token; wire name `jti`.
    public var tokenID: String
    /// Which session it was; wire name `sid`.
    public var sessionID: String

    /// Collects the claims of one token.
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

    /// The claims as JSON.
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
