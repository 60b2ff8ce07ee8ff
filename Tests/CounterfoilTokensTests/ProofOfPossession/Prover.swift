import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import Testing

/// A client with a P-256 key, which makes proofs for one request to an API, valid or with any defect (RFC 9449 §4.2).
struct Prover {
    static let url = "https://api.example.com/photos"
    /// The key of the nonces of the server.
    static let nonceKey = SymmetricKey(data: Array(repeating: 7, count: 32))

    let key: P256.Signing.PrivateKey
    let token: AccessToken

    init() throws {
        key = P256.Signing.PrivateKey()
        token = try #require(AccessToken("eyJ.token.of-the-request"))
    }

    /// The public key as a JSON Web Key.
    var jwk: String {
        let point = key.publicKey.rawRepresentation
        return
            #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(point.prefix(32)))","y":"\#(Base64URL.encode(point.suffix(32)))"}"#
    }

    /// The header of a valid proof, as JSON text that a test can change.
    var header: String { #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"# }

    /// The claims of a valid proof, as JSON text that a test can change.
    var claims: String {
        """
        {"jti":"-BwC3ESc6acc2lTc","htm":"GET","htu":"https://api.example.com/photos","iat":1800000000,\
        "ath":"\(DPoPProofClaims.hash(of: token))"}
        """
    }

    /// Signs any header and any claims with the key of the client.
    func proof(header: String? = nil, claims: String? = nil) throws -> String {
        let input = Authority.unsigned(header: header ?? self.header, claims: claims ?? self.claims)
        return input + "." + Base64URL.encode(try key.signature(for: Data(input.utf8)).rawRepresentation)
    }

    /// Signs a proof whose claims have a change.
    func proof(changing part: String, to other: String) throws -> String {
        let changed = claims.replacing(part, with: other)
        #expect(changed != claims)
        return try proof(claims: changed)
    }

    /// Returns a nonce of the server that it made at a time.
    static func nonce(at time: Date = Authority.now, key: SymmetricKey = nonceKey) -> String {
        ProofNonces(key: key).nonce(at: time)
    }

    /// Verifies proofs as an API does.
    func verify(
        _ fields: String..., requiringNonce requiresNonce: Bool = false, url: String = url, at now: Date = Authority.now
    ) throws -> Result<VerifiedDPoPProof?, DPoPProofRefusal> {
        let verifier = DPoPProofVerifier(nonces: ProofNonces(key: Self.nonceKey), requiresNonce: requiresNonce)
        let uri = try #require(ProofURI(url))
        return Result { () throws(DPoPProofRefusal) in
            try verifier.verify(fields, method: "GET", uris: [uri], presenting: token, at: now)
        }
    }
}
