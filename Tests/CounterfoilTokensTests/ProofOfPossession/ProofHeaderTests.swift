import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import Testing

/// The form, the header and the signature of a DPoP proof (RFC 9449 §4.3 checks 1 to 7).
struct ProofHeaderTests {
    let prover: Prover

    init() throws { prover = try Prover() }

    // RFC 9449 §4.3.
    @Test func `the unchanged proof of the tests below is accepted`() throws {
        let verified = try #require(try prover.verify(prover.proof()).get())
        let key = try JSONDecoder().decode(JSONWebKey.self, from: Data(prover.jwk.utf8))
        #expect(verified.thumbprint.rawValue == key.thumbprint)
        #expect(!verified.containsNonce)
        #expect(try prover.verify().get() == nil)
    }

    // RFC 9449 §4.3 check 1: also if a proxy has merged two fields into one.
    @Test func `two proofs are refused`() throws {
        let (first, second) = (try prover.proof(), try prover.proof())
        #expect(try prover.verify(first, second).refusal == .severalProofs)
        #expect(try prover.verify(first, first).refusal == .severalProofs)
        #expect(try prover.verify("\(first), \(second)").refusal == .token(.malformed(.serialization)))
    }

    // RFC 9449 §4.3 checks 4 to 7, RFC 8725 §3.1.
    @Test(arguments: [
        (#""typ":"dpop+jwt","#, "", DPoPProofRefusal.token(.wrongType)),
        (#""dpop+jwt""#, #""JWT""#, .token(.wrongType)),
        (#""dpop+jwt""#, #""at+jwt""#, .token(.wrongType)),
        (#""dpop+jwt""#, "null", .token(.malformed(.header))),
        (#""alg":"ES256","#, "", .token(.algorithmNotAllowed)),
        (#""ES256""#, #""none""#, .token(.algorithmNotAllowed)),
        (#""ES256""#, #""None""#, .token(.algorithmNotAllowed)),
        (#""ES256""#, #""HS256""#, .token(.algorithmNotAllowed)),
        (#""ES256""#, #""ES256K""#, .token(.algorithmNotAllowed)),
        (#""ES256""#, #""PS256""#, .token(.algorithmNotAllowed)),
        (#""ES256""#, #""RS256""#, .token(.badSignature)),
        (#""ES256""#, #""EdDSA""#, .token(.badSignature)),
        (#""ES256""#, #""Ed25519""#, .token(.badSignature)),
        (#""ES256""#, #""Ed448""#, .token(.algorithmNotAllowed)),
        (#""typ""#, #""crit":["exp"],"exp":1,"typ""#, .token(.headerNotAllowed("crit"))),
        (#""typ""#, #""jku":"https://evil.example/jwks","typ""#, .token(.headerNotAllowed("jku"))),
        (#""typ""#, #""x5u":"https://evil.example/x","typ""#, .token(.headerNotAllowed("x5u"))),
        (#""typ""#, #""x5c":["MIIB"],"typ""#, .token(.headerNotAllowed("x5c"))),
        (#""typ""#, #""typ":"dpop+jwt","typ""#, .token(.malformed(.header))),
        (#""jwk""#, #""key""#, .keyMissing),
        (#""jwk""#, #""jwk":"x","other""#, .keyMissing),
        (#""jwk""#, #""jwk":null,"other""#, .keyMissing),
        (#""kty":"EC","#, #""kty":"EC","d":"AAAA","#, .unusableKey(.privateMaterial)),
        (#""kty":"EC","#, #""kty":"EC","use":"enc","#, .unusableKey(.notForSignatures)),
        (#""kty":"EC","#, #""kty":"EC","alg":"RS256","#, .unusableKey(.unsupportedAlgorithm)),
        (#""kty":"EC","#, "", .unusableKey(.unsupportedKeyType)),
        (#""P-256""#, #""P-521""#, .unusableKey(.unsupportedKeyType)),
        (#""x":"#, #""z":"#, .unusableKey(.malformed)),
    ])
    func `a proof with an invalid header is refused`(part: String, forged: String, expected: DPoPProofRefusal) throws {
        let header = prover.header.replacing(part, with: forged, maxReplacements: 1)
        #expect(header != prover.header)
        #expect(try prover.verify(prover.proof(header: header)).refusal == expected)
    }

    // RFC 9449 §4.3 check 7, RFC 7518 §6.4; a symmetric key proves nothing, because the server learns it.
    @Test func `a symmetric key in the header is refused`() throws {
        let secret = SymmetricKey(size: .bits256)
        let jwk = #"{"kty":"oct","k":"\#(Base64URL.encode(secret.withUnsafeBytes { Array($0) }))"}"#
        for (algorithm, expected) in [
            ("HS256", DPoPProofRefusal.token(.algorithmNotAllowed)), ("ES256", .unusableKey(.privateMaterial)),
        ] {
            let header = #"{"typ":"dpop+jwt","alg":"\#(algorithm)","jwk":\#(jwk)}"#
            let input = Authority.unsigned(header: header, claims: prover.claims)
            let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: secret)
            #expect(try prover.verify(input + "." + Base64URL.encode(Data(code))).refusal == expected)
        }
    }

    // RFC 7518 §3.3: RSA keys have at least 2048 bits.
    @Test func `an RSA key of 512 bits is refused`() throws {
        let modulus = Base64URL.encode([0xC1] + Array(repeating: 0x5B, count: 63))
        let header = prover.header.replacing("ES256", with: "RS256")
            .replacing(prover.jwk, with: #"{"kty":"RSA","n":"\#(modulus)","e":"AQAB"}"#)
        #expect(try prover.verify(prover.proof(header: header)).refusal == .unusableKey(.malformed))
    }

    // Each algorithm that the challenge lists is accepted, with a key of its type.
    @Test(arguments: DPoPProofVerifier.algorithms)
    func `a proof with each listed algorithm is accepted`(algorithm: SigningAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        let proof = try key.sign(
            DPoPProofClaims(
                proofID: "1", method: "GET", uri: Prover.url, issuedAt: Authority.now, accessToken: prover.token))
        #expect(try prover.verify(proof).get()?.thumbprint.rawValue == key.publicKey.thumbprint)
    }

    // RFC 9449 §4.3 check 6.
    @Test func `a signature by another key than that of the header is refused`() throws {
        let other = try Prover()
        #expect(try prover.verify(prover.proof(header: other.header)).refusal == .token(.badSignature))
        let proof = try prover.proof()
        let claims = Base64URL.encode(prover.claims.replacing("GET", with: "PUT").utf8)
        let parts = proof.split(separator: ".")
        #expect(try prover.verify("\(parts[0]).\(claims).\(parts[2])").refusal == .token(.badSignature))
        #expect(try prover.verify("\(parts[0]).\(parts[1]).").refusal == .token(.badSignature))
    }

    // RFC 9449 §4.3 check 2: the JSON serialization of RFC 7515 §7.2 can have several signatures.
    @Test func `a proof with two signatures is refused`() throws {
        let parts = try prover.proof().split(separator: ".")
        let signature = #"{"protected":"\#(parts[0])","signature":"\#(parts[2])"}"#
        let general = #"{"payload":"\#(parts[1])","signatures":[\#(signature),\#(signature)]}"#
        for text in [general, Base64URL.encode(general.utf8), parts.joined(separator: ".") + ".\(parts[2])", "", ".."] {
            #expect(throws: DPoPProofRefusal.self) { try prover.verify(text).get() }
        }
    }

    @Test func `a header of 100 KB is refused before it is parsed`() throws {
        let padding = String(repeating: "x", count: 100_000)
        let header = prover.header.replacing(#""typ""#, with: #""x":"\#(padding)","typ""#)
        #expect(try prover.verify(prover.proof(header: header)).refusal == .token(.tooLarge))
    }

    // RFC 9449 §4.3: no refusal repeats what the sender chose.
    @Test func `a refusal contains no part of the proof`() throws {
        for header in [prover.header.replacing("dpop", with: "leak"), prover.header.replacing("ES256", with: "leak")] {
            let refusal = try #require(try prover.verify(prover.proof(header: header)).refusal)
            #expect(!"\(refusal)".contains("leak"))
        }
    }
}
