public import CounterfoilProtocol
import Crypto
public import Foundation

/// What a sender says to prove that it holds a key: that this very request is its own.
///
/// RFC 9449 §4.2.
public struct DPoPProofClaims: Sendable, Hashable {
    /// The name of this very proof; wire name `jti`.
    public var proofID: String
    /// The method of the request; wire name `htm`.
    public var method: String
    /// The address of the request, without query and fragment; wire name `htu`.
    public var address: String
    /// When the proof was made; wire name `iat`.
    public var issuedAt: Date
    /// The SHA-256 of the access token that the request carries, in base64url; wire name `ath`; nil at a token endpoint.
    public var accessTokenHash: String?
    /// The latest nonce of the server; wire name `nonce`; nil while it gave none.
    public var nonce: String?

    /// The claims of a proof for one request.
    public init(
        proofID: String, method: String, address: String, issuedAt: Date, accessToken: AccessToken? = nil,
        nonce: String? = nil
    ) {
        self.proofID = proofID
        self.method = method
        self.address = address
        self.issuedAt = issuedAt
        accessTokenHash = accessToken.map(Self.hash(of:))
        self.nonce = nonce
    }

    /// `ath`: the SHA-256 of an access token, in base64url (RFC 9449 §4.2).
    public static func hash(of token: AccessToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(token.exposed.utf8)))
    }

    /// The claims as JSON.
    func json() throws(SigningKey.Failure) -> [UInt8] {
        var writer = JSONWriter()
        try writer.object { (writer: inout JSONWriter) throws(SigningKey.Failure) in
            writer.claim("jti", proofID)
            writer.claim("htm", method)
            writer.claim("htu", address)
            try writer.claim("iat", issuedAt)
            writer.claim("ath", accessTokenHash)
            writer.claim("nonce", nonce)
        }
        return writer.bytes
    }
}
