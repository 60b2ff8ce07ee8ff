package import CounterfoilProtocol
import Crypto
package import Foundation

/// The claims of a DPoP proof, with which a client proves possession of a key for one request.
///
/// RFC 9449 §4.2.
package struct DPoPProofClaims: Sendable, Hashable {
    /// The unique identifier of the proof; wire name `jti`.
    package var proofID: String
    /// The HTTP method of the request; wire name `htm`.
    package var method: String
    /// The URL of the request, without query and fragment; wire name `htu`.
    package var uri: String
    /// The time at which the proof was created; wire name `iat`.
    package var issuedAt: Date
    /// The SHA-256 digest of the access token in the request, in base64url; wire name `ath`.
    ///
    /// Nil at a token endpoint.
    package var accessTokenHash: String?
    /// The latest nonce that the server sent; wire name `nonce`.
    ///
    /// Nil if it has sent none.
    package var nonce: String?

    /// Creates the claims of a proof for one request.
    package init(
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

    /// Computes `ath`, the SHA-256 digest of an access token in base64url (RFC 9449 §4.2).
    package static func hash(of token: AccessToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(token.exposed.utf8)))
    }

    /// Encodes the claims as JSON.
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
