import CounterfoilProtocol
import Crypto
import Foundation

@testable @_spi(Counterfoil) import CounterfoilTokens

/// A DPoP proof (RFC 9449 §4.3), and the claims of one that is signed by a key of this program.
///
/// The same input is examined as the field `DPoP` and as the claims. Without the second use, no input would pass the
/// check of the signature.
enum ProofTarget {
    private static let url = "https://api.example.com/photos"
    private static let time = 1_800_000_000
    private static let now = Date(timeIntervalSince1970: TimeInterval(time))
    private static let nonces = ProofNonces(key: SymmetricKey(data: Array(repeating: 7, count: 32)))
    private static let verifier = DPoPProofVerifier(nonces: nonces, requiresNonce: false)
    private static let key = P256.Signing.PrivateKey()

    static func examine(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let verdict = verdict(on: text)
        require(self.verdict(on: text) == verdict, "the same proof is judged differently")
        if case .failure(let refusal) = verdict { require(isSafeToShow("\(refusal)"), "a reason that cannot be shown") }
        if case .success(nil) = verdict { require(false, "a proof is taken for none") }
        examineClaims(bytes)
        examineURI(text)
    }

    private static func verdict(on text: String) -> Result<VerifiedDPoPProof?, DPoPProofRefusal> {
        guard let uri = ProofURI(url) else { return .success(nil) }
        return Result { () throws(DPoPProofRefusal) in
            try verifier.verify([text], method: "GET", uris: [uri], at: now)
        }
    }

    /// Signs the input as the claims of a proof; the verifier accepts only a current proof for this request.
    private static func examineClaims(_ bytes: [UInt8]) {
        let point = key.publicKey.rawRepresentation
        let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
        let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}}"#
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(bytes)
        guard let signature = try? key.signature(for: Data(input.utf8)) else { return }
        guard case .success(_?) = verdict(on: input + "." + Base64URL.encode(signature.rawRepresentation)) else {
            return
        }
        guard let claims = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            return require(false, "claims that are no JSON object are accepted")
        }
        require(claims["htm"] as? String == "GET", "another method is accepted")
        require((claims["jti"] as? String)?.isEmpty == false, "a proof without jti is accepted")
        let issuedAt = (claims["iat"] as? NSNumber)?.doubleValue ?? 0
        require(abs(issuedAt - Double(time)) <= DPoPProofVerifier.window, "a proof of another time is accepted")
        let nonce = claims["nonce"] as? String
        require(nonce == nil || nonce.map { nonces.accept($0, at: now) } == true, "an unknown nonce is accepted")
    }

    private static func examineURI(_ text: String) {
        guard let uri = ProofURI(text) else { return }
        require(text.lowercased().hasPrefix("http"), "another scheme is accepted")
        if !text.contains("?"), !text.contains("#") {
            require(ProofURI(text + "?a=b#c") == uri || text.utf8.count > 4090, "query and fragment are not ignored")
        }
    }
}
