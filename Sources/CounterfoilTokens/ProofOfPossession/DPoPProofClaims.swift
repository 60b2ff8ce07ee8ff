public import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol
import Crypto

/// The claims of a DPoP proof, with which a client proves possession of a key for one request.
///
/// RFC 9449 §4.2.
@_spi(Counterfoil) public struct DPoPProofClaims: Sendable, Hashable {
    /// The unique identifier of the proof (claim `jti`).
    public var proofID: String
    /// The HTTP method of the request (claim `htm`).
    public var method: String
    /// The URL of the request, without query and fragment (claim `htu`).
    public var uri: String
    /// The time at which the proof was created (claim `iat`).
    public var issuedAt: Date
    /// The SHA-256 digest of the access token in the request, in base64url (claim `ath`).
    ///
    /// Nil in a request to a token endpoint, which contains no access token.
    public var accessTokenHash: String?
    /// The nonce that the server sent last (claim `nonce`).
    ///
    /// Nil if the server has sent none.
    public var nonce: String?

    /// Creates the claims of a proof for one request; `ath` is computed from `accessToken`.
    public init(
        proofID: String, method: String, uri: String, issuedAt: Date, accessToken: AccessToken? = nil,
        nonce: String? = nil
    ) {
        self.proofID = proofID
        self.method = method
        self.uri = uri
        self.issuedAt = issuedAt
        accessTokenHash = accessToken.map(Self.hash(of:))
        self.nonce = nonce
    }

    /// Reads the claims of an authentic proof; unknown claims are ignored.
    ///
    /// - Throws: A ``TokenRefusal`` if a claim that RFC 9449 §4.2 requires is missing, or a claim is malformed.
    init(_ claims: AuthenticClaims) throws(TokenRefusal) {
        proofID = try claims.text("jti")
        method = try claims.text("htm")
        uri = try claims.text("htu")
        issuedAt = try claims.date("iat")
        accessTokenHash = try claims.optionalText("ath")
        nonce = try claims.optionalText("nonce")
    }

    /// Computes `ath`, the SHA-256 digest of an access token in base64url (RFC 9449 §4.2).
    public static func hash(of token: AccessToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(token.exposed.utf8)))
    }

    /// Encodes the claims as JSON.
    ///
    /// - Throws: ``SigningKey/Failure/unusableClaim(_:)`` if the time is out of range.
    func json() throws(SigningKey.Failure) -> [UInt8] {
        var writer = JSONWriter()
        try writer.object { (writer: inout JSONWriter) throws(SigningKey.Failure) in
            writer.claim("jti", proofID)
            writer.claim("htm", method)
            writer.claim("htu", uri)
            try writer.claim("iat", issuedAt)
            writer.claim("ath", accessTokenHash)
            writer.claim("nonce", nonce)
        }
        return writer.bytes
    }
}
