public import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol
import Crypto

/// The claims of an ID token.
///
/// OpenID Connect Core §2. Times are encoded in whole seconds.
public struct IDTokenClaims: Sendable, Hashable {
    /// The OpenID provider that issued the token (claim `iss`).
    public var issuer: Issuer
    /// The subject identifier of the user, at most 255 ASCII characters (claim `sub`).
    public var subject: String
    /// The audiences, which include the client (claim `aud`).
    public var audience: [String]
    /// The time from which verifiers reject the token (claim `exp`).
    public var expires: Date
    /// The time at which the token was issued (claim `iat`); verifiers reject a time in the future.
    public var issuedAt: Date
    /// The time at which the user signed in (claim `auth_time`); nil omits the claim.
    public var authTime: Date?
    /// The nonce of the authorization request (claim `nonce`); nil if the request had none.
    public var nonce: Nonce?
    /// The result of ``accessTokenHash(of:algorithm:)`` for the access token of the same response (claim `at_hash`).
    public var accessTokenHash: String?
    /// The client that the token was issued to (claim `azp`); required if there are several audiences.
    public var authorizedParty: ClientIdentifier?
    /// The authentication context of the sign-in (claim `acr`).
    public var authenticationContext: String?
    /// The methods by which the user signed in (claim `amr`, RFC 8176); omitted if empty.
    public var authenticationMethods: [String]
    /// The identifier of the user's session (claim `sid`, OpenID Connect Back-Channel Logout §2.1).
    public var sessionID: String?
    /// The claims about the user, such as `name` and `email` (OpenID Connect Core §5.1).
    public var user: UserClaims

    /// Creates the claims of one token; claims that are nil are omitted.
    public init(
        issuer: Issuer, subject: String, audience: [String], expires: Date, issuedAt: Date, authTime: Date? = nil,
        nonce: Nonce? = nil, accessTokenHash: String? = nil, authorizedParty: ClientIdentifier? = nil,
        authenticationContext: String? = nil, authenticationMethods: [String] = [], sessionID: String? = nil,
        user: UserClaims = UserClaims()
    ) {
        self.issuer = issuer
        self.subject = subject
        self.audience = audience
        self.expires = expires
        self.issuedAt = issuedAt
        self.authTime = authTime
        self.nonce = nonce
        self.accessTokenHash = accessTokenHash
        self.authorizedParty = authorizedParty
        self.authenticationContext = authenticationContext
        self.authenticationMethods = authenticationMethods
        self.sessionID = sessionID
        self.user = user
    }

    /// Computes `at_hash`, the digest that binds an ID token to an access token.
    ///
    /// OpenID Connect Core §3.1.3.6. The digest is the left half of a hash, in base64url. The signature
    /// algorithm of the ID token determines the hash function: SHA-512 for Ed25519 and EdDSA, SHA-256 for ES256 and
    /// RS256.
    public static func accessTokenHash(of token: AccessToken, algorithm: SigningAlgorithm) -> String {
        let bytes = Array(token.exposed.utf8)
        return [.ed25519, .edDSA].contains(algorithm)
            ? Base64URL.encode(SHA512.hash(data: bytes).copiedBytes.prefix(32))
            : Base64URL.encode(SHA256.hash(data: bytes).copiedBytes.prefix(16))
    }

    /// Encodes the claims as JSON.
    ///
    /// - Throws: ``SigningKey/Failure/unusableClaim(_:)`` if `sub` is not a valid subject identifier, `aud` is empty,
    ///   or a time is out of range.
    func json() throws(SigningKey.Failure) -> [UInt8] {
        guard Self.isSubject(subject) else { throw .unusableClaim("sub") }
        var writer = JSONWriter()
        try writer.object { (writer: inout JSONWriter) throws(SigningKey.Failure) in
            writer.claim("iss", issuer.rawValue)
            writer.claim("sub", subject)
            try writer.claim(audience: audience)
            try writer.claim("exp", expires)
            try writer.claim("iat", issuedAt)
            try writer.claim("auth_time", authTime)
            writer.claim("nonce", nonce?.exposed)
            writer.claim("at_hash", accessTokenHash)
            writer.claim("azp", authorizedParty?.rawValue)
            writer.claim("acr", authenticationContext)
            writer.claim(authenticationMethods: authenticationMethods)
            writer.claim("sid", sessionID)
            try writer.claims(user)
        }
        return writer.bytes
    }

    /// Returns true if a text is a valid subject identifier: 1 to 255 ASCII characters
    /// (OpenID Connect Core §2).
    static func isSubject(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { $0 < 0x80 }
    }
}
