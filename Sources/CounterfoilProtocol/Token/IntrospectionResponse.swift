public import CounterfoilPlatform

/// A token introspection response.
///
/// RFC 7662 §2.2. The response contains only `active` if the token is inactive, or if the caller is not allowed
/// to know about it.
public enum IntrospectionResponse: Sendable, Hashable {
    /// The token is neither expired nor revoked, and the caller is allowed to know about it.
    case active(ActiveToken)
    /// The token is not active, or the caller is not allowed to know about it.
    case inactive

    /// The members of the response for an active token.
    public struct ActiveToken: Sendable, Hashable {
        /// The issuer of the token (member `iss`).
        public var issuer: Issuer
        /// The subject identifier of the user, or the client identifier if no user is involved (member `sub`).
        public var subject: String
        /// The APIs that the token is intended for (member `aud`).
        public var audience: [String]
        /// The client that the token was issued to (member `client_id`).
        public var clientID: ClientIdentifier
        /// The name with which the user signs in (member `username`).
        ///
        /// Nil if no user is involved, or if the caller must not see the name.
        public var username: String?
        /// The scope of the token (member `scope`); omitted if empty.
        public var scope: Scope
        /// The expiration time (member `exp`), encoded in whole seconds.
        public var expires: Date
        /// The time at which the token was issued (member `iat`), encoded in whole seconds.
        public var issuedAt: Date
        /// The unique identifier of the token (member `jti`).
        public var tokenID: String
        /// The time at which the user signed in (member `auth_time`, RFC 9470 §6.2); nil if no user is involved.
        public var authTime: Date?
        /// The authentication context of the sign-in (member `acr`, RFC 9470 §6.2); nil if no user is involved.
        public var authenticationContext: String?
        /// The methods by which the user signed in (member `amr`, RFC 8176); omitted if empty.
        public var authenticationMethods: [String]
        /// The thumbprint of the key to which the token is bound (member `cnf`, RFC 9449 §6.2); nil for a bearer token.
        public var keyThumbprint: KeyThumbprint?

        /// Creates the members for an active token; members that are nil are omitted.
        public init(
            issuer: Issuer, subject: String, audience: [String], clientID: ClientIdentifier, username: String? = nil,
            scope: Scope, expires: Date, issuedAt: Date, tokenID: String, authTime: Date? = nil,
            authenticationContext: String? = nil, authenticationMethods: [String] = [],
            keyThumbprint: KeyThumbprint? = nil
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
            self.authenticationMethods = authenticationMethods
            self.keyThumbprint = keyThumbprint
        }
    }

    /// Encodes the response as a JSON object, whose only member is `"active": false` for an inactive token.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 1024)
        writer.object { writer in writeMembers(to: &writer) }
        return writer.bytes
    }

    /// Writes the members of the response into the JSON object that the writer has opened.
    @_spi(Counterfoil) public func writeMembers(to writer: inout JSONWriter) {
        guard case .active(let token) = self else { return writer.member("active", false) }
        writer.member("active", true)
        if !token.scope.isEmpty { writer.member("scope", token.scope.description) }
        writer.member("client_id", token.clientID.rawValue)
        if let username = token.username { writer.member("username", username) }
        writer.member("token_type", token.keyThumbprint == nil ? "Bearer" : "DPoP")
        writer.member("exp", Self.seconds(token.expires))
        writer.member("iat", Self.seconds(token.issuedAt))
        writer.member("sub", token.subject)
        // RFC 7519 §4.1.3: a single audience may be a string. Several audiences are an array.
        if token.audience.count == 1 {
            writer.member("aud", token.audience[0])
        } else {
            writer.member("aud", list: { writer in for audience in token.audience { writer.element(audience) } })
        }
        writer.member("iss", token.issuer.rawValue)
        writer.member("jti", token.tokenID)
        if let time = token.authTime { writer.member("auth_time", Self.seconds(time)) }
        if let context = token.authenticationContext { writer.member("acr", context) }
        if !token.authenticationMethods.isEmpty {
            writer.member(
                "amr", list: { writer in for method in token.authenticationMethods { writer.element(method) } })
        }
        if let thumbprint = token.keyThumbprint {
            writer.member("cnf", object: { writer in writer.member("jkt", thumbprint.rawValue) })
        }
    }

    private static func seconds(_ time: Date) -> Int64 { Int64(time.timeIntervalSince1970.rounded(.down)) }
}
