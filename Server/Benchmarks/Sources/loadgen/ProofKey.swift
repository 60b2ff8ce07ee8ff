import Crypto
import Foundation

/// The key of a client, with which it signs DPoP proofs with ES256 (RFC 9449 §4.2).
struct ProofKey {
    private let key = P256.Signing.PrivateKey()
    private let header: String

    init() {
        let point = Array(key.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.encode(Array(point[..<32])), Base64URL.encode(Array(point[32...])))
        let jwk = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        header = Base64URL.encode(Array(#"{"alg":"ES256","jwk":\#(jwk),"typ":"dpop+jwt"}"#.utf8))
    }

    /// Returns a proof for a `POST` to a URL.
    func proof(for url: String, nonce: String?) throws -> String {
        let (text, signature) = try sign(url, nonce: nonce)
        return "\(text).\(Base64URL.encode(Array(signature.rawRepresentation)))"
    }

    /// Returns a check of the signature of one proof, which can be repeated.
    func signatureCheck(for url: String) throws -> SignatureCheck {
        let (text, signature) = try sign(url, nonce: nil)
        return SignatureCheck(key: key.publicKey, message: Data(text.utf8), signature: signature)
    }

    private func sign(_ url: String, nonce: String?) throws -> (String, P256.Signing.ECDSASignature) {
        let proofID = Random.text(bytes: 16)
        let issuedAt = Int(Date().timeIntervalSince1970)
        let nonce = nonce.map { #","nonce":"\#($0)""# } ?? ""
        let claims = #"{"htm":"POST","htu":"\#(url)","iat":\#(issuedAt),"jti":"\#(proofID)"\#(nonce)}"#
        let text = "\(header).\(Base64URL.encode(Array(claims.utf8)))"
        return (text, try key.signature(for: Data(text.utf8)))
    }
}

/// The verification of one ES256 signature: what a proof costs a server at least.
struct SignatureCheck {
    fileprivate let key: P256.Signing.PublicKey
    fileprivate let message: Data
    fileprivate let signature: P256.Signing.ECDSASignature

    /// Returns whether the signature is valid.
    func callAsFunction() -> Bool { key.isValidSignature(signature, for: message) }
}
