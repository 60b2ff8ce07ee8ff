public import CounterfoilProtocol
import Crypto
public import Foundation

/// The claims of an ID token.
///
/// OpenID Connect Core §2. Times are written in whole seconds.
public struct IDTokenClaims: Sendable, Hashable {
    /// The OpenID provider; wire name `iss`.
    public var issuer: Issuer
    /// The subject identifier of the user, at most 255 ASCII characters; wire name `sub`.
    public var subject: String
    /// The audiences, which include the client; wire name `aud`.
    public var audience: [String]
    /// The expiration time; wire name `exp`.
    public var expires: Date
    /// The time at which the token was issued; wire name `iat`.
    public var issuedAt: Date
    /// The time at which the user signed in; wire name `auth_time`.
    public var authTime: Date?
    /// The nonce of the authorization request; wire name `nonce`.
    public var nonce: Nonce?
    /// The digest of the access token issued with the ID token; wire name `at_hash`.
    public var accessTokenHash: String?
    /// The client that the token was issued to; wire name `azp`.
    public var authorizedParty: ClientIdentifier?
    /// The authentication context of the sign-in; wire name `acr`.
    public var authenticationContext: String?
    /// The session of the user; wire name `sid` (OpenID Connect Back-Channel Logout §2.1).
    public var sessionID: String?
    /// The claims about the user.
    public var user: UserClaims

    /// Creates the claims of one token.
    public init(
        issuer: Issuer, subject: String, audience: [String], expires: Date, issuedAt: Date, authTime: Date? = nil,
        nonce: Nonce? = nil, accessTokenHash: String? = nil, authorizedParty: ClientIdentifier? = nil,
        authenticationContext: String? = nil, sessionID: String? = nil, user: UserClaims = UserClaims()
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
        self.sessionID = sessionID
        self.user = user
    }

    /// Computes the digest that ties an ID token to an access token: the left half of its hash, in base64url.
    ///
    /// Wire name `at_hash`, OpenID Connect Core §3.1.3.6. The hash is that of the ID token's algorithm:
    /// SHA-512 for Ed25519, otherwise SHA-256.
    public static func accessTokenHash(of token: AccessToken, algorithm: SigningAlgorithm) -> String {
        let bytes = Array(token.exposed.utf8)
        return algorithm == .edDSA
            ? Base64URL.encode(SHA512.hash(data: bytes).copiedBytes.prefix(32))
            : Base64URL.encode(SHA256.hash(data: bytes).copiedBytes.prefix(16))
    }

    /// Encodes the claims as JSON.
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
            writer.claim("sid", sessionID)
            try writer.claims(user)
        }
        return writer.bytes
    }

    /// OpenID Connect Core §2: a subject identifier has at most 255 ASCII characters.
    static func isSubject(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { $0 < 0x80 }
    }
}
