public import Foundation

/// What an authorization server says of a token that it is asked about.
///
/// RFC 7662 §2.2. Of a token that is worth nothing, to whoever asks, nothing else is said.
public enum IntrospectionResponse: Sendable, Hashable {
    /// The token counts.
    case active(ActiveToken)
    /// It does not, or is none of the asker's business.
    case inactive

    /// What is said of a token that counts.
    public struct ActiveToken: Sendable, Hashable {
        /// `iss`.
        public var issuer: Issuer
        /// `sub`.
        public var subject: String
        /// `aud`.
        public var audience: [String]
        /// `client_id`.
        public var clientID: ClientIdentifier
        /// `username`; nil where it is nobody's business.
        public var username: String?
        /// `scope`; left out when empty.
        public var scope: Scope
        /// `exp`.
        public var expires: Date
        /// `iat`.
        public var issuedAt: Date
        /// `jti`.
        public var tokenID: String
        /// `auth_time` (RFC 9470 §6.2); nil where no person signed in.
        public var authTime: Date?
        /// `acr` (RFC 9470 §6.2); nil where no person signed in.
        public var authenticationContext: String?

        /// Collects what is said.
        public init(
            issuer: Issuer, subject: String, audience: [String], clientID: ClientIdentifier, username: String? = nil,
            scope: Scope, expires: Date, issuedAt: Date, tokenID: String, authTime: Date? = nil,
            authenticationContext: String? = nil
        ) {
            self.issuer = issuer
            self.subject = subject
            self.audience = audience
            self.clientID = clientID
            self.username = username
            self.scope = scope
            self.expires = expires
            self.issuedAt = issuedAt
            self.tokenID = tokenID
            self.authTime = authTime
            self.authenticationContext = authenticationContext
        }
    }

    /// The wire form.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 1024)
        writer.object { writer in writeMembers(to: &writer) }
        return writer.bytes
    }

    /// Writes the members of the wire form.
    package func writeMembers(to writer: inout JSONWriter) {
        guard case .active(let token) = self else { return writer.member("active", false) }
        writer.member("active", true)
        if !token.scope.isEmpty { writer.member("scope", token.scope.description) }
        writer.member("client_id", token.clientID.rawValue)
        if let username = token.username { writer.member("username", username) }
        writer.member("token_type", "Bearer")
        writer.member("exp", Self.seconds(token.expires))
        writer.member("iat", Self.seconds(token.issuedAt))
        writer.member("sub", token.subject)
        // RFC 7519 §4.1.3: one audience as a text, several as a list.
        if token.audience.count == 1 {
            writer.member("aud", token.audience[0])
        } else {
            writer.member("aud", list: { writer in for audience in token.audience { writer.element(audience) } })
        }
        writer.member("iss", token.issuer.rawValue)
        writer.member("jti", token.tokenID)
        if let time = token.authTime { writer.member("auth_time", Self.seconds(time)) }
        if let context = token.authenticationContext { writer.member("acr", context) }
    }

    private static func seconds(_ time: Date) -> Int64 { Int64(time.timeIntervalSince1970.rounded(.down)) }
}
