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
    public func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return Array(try encoder.encode(self))
    }
}

extension IntrospectionResponse: Encodable {
    private enum CodingKeys: String, CodingKey {
        case active, scope, username, exp, iat, sub, aud, iss, jti, acr
        case clientID = "client_id"
        case tokenType = "token_type"
        case authTime = "auth_time"
    }

    /// Encodes the wire form.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        guard case .active(let token) = self else { return try values.encode(false, forKey: .active) }
        try values.encode(true, forKey: .active)
        if !token.scope.isEmpty { try values.encode(token.scope.description, forKey: .scope) }
        try values.encode(token.clientID, forKey: .clientID)
        try values.encodeIfPresent(token.username, forKey: .username)
        try values.encode("Bearer", forKey: .tokenType)
        try values.encode(Self.seconds(token.expires), forKey: .exp)
        try values.encode(Self.seconds(token.issuedAt), forKey: .iat)
        try values.encode(token.subject, forKey: .sub)
        // RFC 7519 §4.1.3: one audience as a text, several as a list.
        if token.audience.count == 1 {
            try values.encode(token.audience[0], forKey: .aud)
        } else {
            try values.encode(token.audience, forKey: .aud)
        }
        try values.encode(token.issuer.rawValue, forKey: .iss)
        try values.encode(token.tokenID, forKey: .jti)
        try values.encodeIfPresent(token.authTime.map(Self.seconds), forKey: .authTime)
        try values.encodeIfPresent(token.authenticationContext, forKey: .acr)
    }

    private static func seconds(_ time: Date) -> Int64 { Int64(time.timeIntervalSince1970.rounded(.down)) }
}
