import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Testing

struct JSONWebKeyTests {
    private static let point =
        #""x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#

    private func decode(_ text: String) throws -> JSONWebKey {
        try JSONDecoder().decode(JSONWebKey.self, from: Data(text.utf8))
    }

    // RFC 7638 §3.1 and RFC 8037 §A.3.
    @Test(arguments: [
        (PublishedVector.thumbprintKey, "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"),
        (PublishedVector.edDSA.key, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"),
    ])
    func `the thumbprints equal those of the standards`(key: String, thumbprint: String) throws {
        #expect(try decode(key).thumbprint == thumbprint)
    }

    @Test func `a key has its stated key ID, or else its thumbprint`() throws {
        #expect(try decode(PublishedVector.thumbprintKey).id == KeyIdentifier("2011-04-29"))
        #expect(
            try decode(PublishedVector.edDSA.key).id == KeyIdentifier("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"))
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `a published key parses as the same key`(algorithm: SigningAlgorithm) throws {
        let key = try SigningKey.generate(algorithm).publicKey
        #expect(try JSONDecoder().decode(JSONWebKey.self, from: JSONEncoder().encode(key)) == key)
        #expect(try JSONWebKeySet(parsing: JSONWebKeySet(keys: [key]).encoded()).keys == [key])
    }

    // RFC 9864 §2.2: a key of another party verifies both names, whichever of them it states.
    @Test(arguments: [nil, "EdDSA", "Ed25519"])
    func `a key on Ed25519 verifies EdDSA and Ed25519`(stated: String?) throws {
        let member = stated.map { #","alg":"\#($0)""# } ?? ""
        let key = try decode(PublishedVector.edDSA.key.replacing("}", with: member + "}"))
        #expect(key.algorithm.rawValue == stated ?? "EdDSA")
        let set = JSONWebKeySet(keys: [key])
        for algorithm in [SigningAlgorithm.edDSA, .ed25519] {
            #expect(set.keys(for: key.id, algorithm: algorithm) == [key])
            #expect(set.keys(for: nil, algorithm: algorithm) == [key])
        }
        #expect(set.keys(for: key.id, algorithm: .es256).isEmpty)
    }

    // RFC 7517 §9.2: private members are never published.
    @Test(arguments: SigningAlgorithm.allCases)
    func `a published key contains nothing private`(algorithm: SigningAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        let document = try JSONSerialization.jsonObject(with: JSONEncoder().encode(key.publicKey)) as? [String: String]
        let names = Set(try #require(document).keys)
        #expect(names.isSubset(of: ["kty", "crv", "x", "y", "n", "e", "kid", "alg", "use"]))
        #expect(document?["kid"] == key.id.rawValue)
        #expect(document?["alg"] == algorithm.rawValue)
        #expect(document?["use"] == "sig")
    }

    // RFC 7517 §4, RFC 7518 §6, RFC 8725 §3.1.
    @Test(arguments: [
        (#"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ"}"#, JSONWebKey.Refusal.privateMaterial),
        (#"{"kty":"EC","crv":"P-256",POINT,"d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}"#, .privateMaterial),
        (#"{"kty":"EC","crv":"P-256",POINT,"k":"AA"}"#, .privateMaterial),
        (#"{"kty":"RSA","n":"AQAB","e":"AQAB","p":"AQAB"}"#, .privateMaterial),
        (#"{"kty":"EC","crv":"P-384",POINT}"#, .unsupportedKeyType),
        (#"{"kty":"EC","crv":"secp256k1",POINT}"#, .unsupportedKeyType),
        (#"{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#, .unsupportedKeyType),
        (#"{"crv":"P-256",POINT}"#, .unsupportedKeyType),
        (#"{"kty":"EC","crv":"P-256",POINT,"use":"enc"}"#, .notForSignatures),
        (#"{"kty":"EC","crv":"P-256",POINT,"key_ops":["sign"]}"#, .notForSignatures),
        (#"{"kty":"EC","crv":"P-256",POINT,"alg":"ES384"}"#, .unsupportedAlgorithm),
        (#"{"kty":"EC","crv":"P-256",POINT,"alg":"none"}"#, .unsupportedAlgorithm),
        (#"{"kty":"EC","crv":"P-256",POINT,"alg":"HS256"}"#, .unsupportedAlgorithm),
        (#"{"kty":"EC","crv":"P-256",POINT,"alg":"Ed25519"}"#, .unsupportedAlgorithm),
        (#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#, .malformed),
        (#"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#, .malformed),
        (
            #"{"kty":"EC","crv":"P-256","x":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","#
                + #""y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
            .malformed
        ),
        (#"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#, .malformed),
        (#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="}"#, .malformed),
    ])
    func `a key that is not a public key for signatures is refused`(text: String, expected: JSONWebKey.Refusal) throws {
        let text = text.replacing("POINT", with: Self.point)
        #expect(throws: expected) { try decode(text) }
        #expect(try JSONWebKeySet(parsing: Array(#"{"keys":[\#(text)]}"#.utf8)).keys.isEmpty)
    }

    // RFC 7518 §3.3: a modulus of at least 2048 bits, and a valid exponent.
    @Test(arguments: [
        (128, "AQAB"), (255, "AQAB"), (1025, "AQAB"), (256, "AQ"), (256, "Ag"), (256, "AQAAAAAB"), (256, ""),
    ])
    func `an RSA key that is unsuitable for signatures is refused`(bytes: Int, exponent: String) {
        let modulus = Base64URL.encode([UInt8](repeating: 0xFB, count: bytes))
        #expect(throws: JSONWebKey.Refusal.malformed) {
            try decode(#"{"kty":"RSA","n":"\#(modulus)","e":"\#(exponent)"}"#)
        }
    }
}
