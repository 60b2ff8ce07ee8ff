import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Testing

struct PublishedVectorTests {
    private func refusal(of token: String, key: String) throws -> TokenRefusal? {
        let keys = try JSONWebKeySet(parsing: Array(#"{"keys":[\#(key)]}"#.utf8))
        let verifier = IDTokenVerifier(
            issuer: try Issuer("https://id.example.com"), clientID: try #require(ClientIdentifier("lightbox"))
        )
        let token = try #require(IDToken(token))
        return Result { () throws(TokenRefusal) in
            try verifier.verify(token, keys: keys, request: .init(nonce: Nonce()), accessToken: nil, at: Date())
        }.refusal
    }

    // RFC 7515 §A.2 and §A.3: the signature is valid, so the verifier reads the claims and rejects their
    // issuer, joe.
    @Test(arguments: [PublishedVector.rs256, .es256])
    func `the signatures of the standard are valid`(vector: PublishedVector) throws {
        #expect(try refusal(of: vector.token, key: vector.key) == .wrongIssuer)
    }

    // RFC 8037 §A.4 and RFC 7520 §4.1: the signature is valid, but the payload is not a claims object.
    @Test(arguments: [PublishedVector.edDSA, .cookbook])
    func `the signatures of the standard over other content are valid`(vector: PublishedVector) throws {
        #expect(try refusal(of: vector.token, key: vector.key) == .malformed(.claims))
    }

    // RFC 7515 §5.2: the same tokens with one flipped bit in the signature.
    @Test(arguments: [PublishedVector.rs256, .es256, .edDSA, .cookbook])
    func `the same signatures with a flipped bit are invalid`(vector: PublishedVector) throws {
        let parts = vector.token.split(separator: ".")
        for position in [0, 20, 63] {
            var signature = try #require(parts.last.flatMap { Base64URL.decode($0) })
            signature[position] ^= 0x10
            let token = parts.dropLast().joined(separator: ".") + "." + Base64URL.encode(signature)
            #expect(try refusal(of: token, key: vector.key) == .badSignature)
        }
    }
}
