/// The name of a claim that the owner of the server has defined: an attribute of users, or ``groups``.
///
/// A name has 1 to 64 visible ASCII characters without `"`, `\`, `,` and `=`. It can be a URI (RFC 7519 §4.2). It is
/// never the name of a claim with a meaning in OAuth or OpenID Connect.
public struct ClaimName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The maximum length in bytes.
    public static let limit = 64
    /// The claim with the groups of a user (RFC 9068 §2.2.3.1).
    public static let groups = ClaimName(unchecked: "groups")

    /// The name.
    public let rawValue: String

    /// Parses a name; nil if it has a character that is not allowed, or is reserved.
    public init?(_ text: String) {
        guard Self.isName(text), !Self.isReserved(text) else { return nil }
        rawValue = text
    }

    private init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }

    /// Compares two names by their bytes.
    public static func < (first: ClaimName, second: ClaimName) -> Bool {
        first.rawValue.utf8.lexicographicallyPrecedes(second.rawValue.utf8)
    }

    /// Returns true if a text has the form of a name, reserved or not.
    package static func isName(_ text: String) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#""\,="#.utf8.contains($0) }
    }

    /// Returns true if a name has a meaning in OAuth or OpenID Connect, or in the tokens of this server.
    package static func isReserved(_ name: String) -> Bool { reserved.contains(name) }

    private static let reserved = Set(
        [
            // JWT (RFC 7519 §4.1, RFC 7800 §3.1, RFC 8055, RFC 8417 §2.2, RFC 8693 §4, RFC 9068 §2.2, RFC 9396 §9.1,
            // RFC 9701 §5).
            "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "cnf", "sip_from_tag", "sip_date", "sip_callid",
            "sip_cseq_num", "sip_via_branch", "orig", "dest", "mky", "toe", "txn", "events", "sub_id", "act", "scope",
            "client_id", "may_act", "authorization_details", "token_introspection",
            // Token introspection (RFC 7662 §2.2).
            "active", "username", "token_type",
            // OpenID Connect (Core §2, §3.3.2.11, §5.1, §5.6.2 and §7.4, Front- and Back-Channel Logout, Vectors of
            // Trust, RFC 8485).
            "auth_time", "nonce", "at_hash", "c_hash", "s_hash", "acr", "amr", "azp", "sid", "sub_jwk", "vot", "vtm",
            "_claim_names", "_claim_sources", "name", "given_name", "family_name", "middle_name", "nickname",
            "preferred_username", "profile", "picture", "website", "email", "email_verified", "gender", "birthdate",
            "zoneinfo", "locale", "phone_number", "phone_number_verified", "address", "updated_at",
            "verified_claims",
            // This server.
            "grant_id", omitted,
        ])

    /// The claim that names the claims that are too large for a token.
    package static let omitted = "omitted_claims"
}

/// The claims about a user that a scope of the owner releases, and where clients get them.
public struct ReleasedClaims: Sendable, Hashable {
    /// A place in which a client gets claims.
    public enum Place: String, Sendable, Hashable, CaseIterable {
        /// The ID token.
        case idToken = "id_token"
        /// The access token, and the response of introspection about it.
        case accessToken = "access_token"
        /// The response of UserInfo.
        case userInfo = "userinfo"
    }

    /// The maximum number of claims of a scope: every attribute of a user, and the groups.
    public static let limit = UserAttributes.attributeLimit + 1

    /// The names of the claims.
    public var names: Set<ClaimName>
    /// The places; none if there are no claims.
    public var places: Set<Place>

    /// Creates a release; by default it has no claims.
    public init(names: Set<ClaimName> = [], places: Set<Place> = []) {
        self.names = names
        self.places = places
    }

    /// Whether the scope releases no claims.
    public var isEmpty: Bool { names.isEmpty || places.isEmpty }
}
