import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import Testing

struct TamperingTests {
    // RFC 7515 §5.2: a change of any bit in the three parts is detected.
    @Test(arguments: [SigningAlgorithm.es256, .edDSA])
    func `a token with any one bit flipped is refused`(algorithm: SigningAlgorithm) throws {
        let authority = try Authority(algorithm)
        let token = Array(try authority.key.sign(try authority.accessTokenClaims()).utf8)
        for position in token.indices {
            for bit in 0..<7 {
                var flipped = token
                flipped[position] ^= 1 << UInt8(bit)
                let refusal = authority.verifyAccessToken(String(decoding: flipped, as: UTF8.self)).refusal
                #expect(refusal != nil, "bit \(bit) of byte \(position)")
            }
        }
    }

    @Test func `every part of a token is required`() throws {
        let authority = try Authority()
        let token = try authority.key.sign(try authority.accessTokenClaims())
        for length in 0..<token.utf8.count {
            #expect(authority.verifyAccessToken(String(token.prefix(length))).refusal != nil)
        }
    }

    // RFC 7515 §7.1: exactly three parts of base64url without padding.
    @Test(arguments: [
        "", ".", "..", "...", "a.b", "TOKEN.", ".TOKEN", "TOKEN.x", "TOKEN=", "TOKEN\n", " TOKEN", "Bearer TOKEN",
        "TOKEN\u{0}", "{\"payload\":\"\"}", "é.é.é",
    ])
    func `a text that is not a compact JWS is malformed`(form: String) throws {
        let authority = try Authority()
        let token = form.replacing("TOKEN", with: try authority.forge())
        let refusal = try #require(authority.verifyAccessToken(token).refusal)
        #expect([.malformed(.serialization), .malformed(.header)].contains(refusal))
    }

    // RFC 8725 §3.1: a missing signature, or one in another format.
    @Test func `a signature of another length is refused`() throws {
        let authority = try Authority()
        let input = Authority.unsigned(header: authority.header, claims: authority.claims)
        let secret = try P256.Signing.PrivateKey(rawRepresentation: authority.key.privateRepresentation)
        let genuine = try secret.signature(for: Data(input.utf8))
        let forms: [Data] = [
            Data(), Data(repeating: 0, count: 64), genuine.derRepresentation, genuine.rawRepresentation + [0],
            genuine.rawRepresentation.prefix(32), Data([0]) + genuine.rawRepresentation,
        ]
        for form in forms {
            #expect(authority.verifyAccessToken(input + "." + Base64URL.encode(form)).refusal == .badSignature)
        }
    }

    @Test func `a token that is too large is refused without parsing`() throws {
        let authority = try Authority()
        let megabyte = String(repeating: "a", count: 1 << 20)
        #expect(authority.verifyAccessToken(megabyte).refusal == .tooLarge)
        #expect(authority.verifyAccessToken(megabyte + ".a.a").refusal == .tooLarge)
        let large = try authority.forge(claims: authority.claims.replacing("lightbox", with: megabyte.prefix(16384)))
        #expect(authority.verifyAccessToken(large).refusal == .tooLarge)
    }

    // Refusals are logged, so they must not contain text from the token.
    @Test func `an error does not repeat the text of a token`() throws {
        let authority = try Authority()
        let header = #"{"alg":"ES256","typ":"at+jwt","kid":"x\nlevel=info msg=fine"}"#
        let refusal = try #require(authority.verifyAccessToken(authority.forge(header: header)).refusal)
        #expect(refusal.description == "the key set has no key <21 bytes> for the token's algorithm")
        let named = try #require(
            authority.verifyAccessToken(authority.forge(header: header.replacing(#"\nlevel=info msg=fine"#, with: "1")))
                .refusal
        )
        #expect(named.description == "the key set has no key x1 for the token's algorithm")
        let long = header.replacing(#"x\n"#, with: String(repeating: "k", count: 300))
        #expect(try authority.verifyAccessToken(authority.forge(header: long)).refusal == .malformed(.header))
    }
}
