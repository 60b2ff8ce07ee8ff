import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Testing

struct SigningKeyTests {
    @Test(arguments: SigningAlgorithm.allCases)
    func `a stored key signs as before`(algorithm: SigningAlgorithm) throws {
        let authority = try Authority(algorithm)
        let restored = try SigningKey(algorithm: algorithm, privateRepresentation: authority.key.privateRepresentation)
        #expect(restored.id == authority.key.id)
        #expect(restored.id.rawValue == restored.publicKey.thumbprint)
        #expect(restored.algorithm == algorithm)
        let token = try restored.sign(try authority.accessTokenClaims())
        #expect(authority.verifyAccessToken(token).refusal == nil)
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `bytes that are not a key are refused`(algorithm: SigningAlgorithm) {
        for bytes in [[], [1, 2, 3], [UInt8](repeating: 0xFF, count: 33)] {
            #expect(throws: SigningKey.Failure.unusableKey) {
                try SigningKey(algorithm: algorithm, privateRepresentation: bytes)
            }
        }
    }

    @Test func `two new keys always differ`() throws {
        #expect(try SigningKey.generate(.es256).id != SigningKey.generate(.es256).id)
    }

    // RFC 7517 §9.2: the private key must not leak into logs.
    @Test(arguments: SigningAlgorithm.allCases)
    func `a signing key prints as redacted`(algorithm: SigningAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        var dumped = ""
        dump(key, to: &dumped)
        dump([key], to: &dumped)
        let texts = ["\(key)", String(describing: key), String(reflecting: key), "\([key])", dumped]
        let secret = key.privateRepresentation
        for text in texts {
            #expect(text.contains("redacted"))
            #expect(!text.contains("Signing.PrivateKey"))
            #expect(!text.contains(Base64URL.encode(secret)))
            #expect(!text.contains(Data(secret).base64EncodedString()))
            #expect(!text.contains(secret.prefix(4).map(String.init).joined(separator: ", ")))
        }
    }

    // There is no value for an unsupported algorithm.
    @Test(arguments: [
        "none", "None", "HS256", "HS512", "RS1", "PS256", "ES384", "es256", "", "ES256 ", "Ed448", "ESP256",
    ])
    func `other algorithms have no name`(name: String) {
        #expect(SigningAlgorithm(rawValue: name) == nil)
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode([SigningAlgorithm].self, from: Data("[\"\(name)\"]".utf8))
        }
    }

    @Test func `the algorithms have their names on the wire`() throws {
        #expect(SigningAlgorithm.allCases.map(\.rawValue) == ["ES256", "RS256", "Ed25519", "EdDSA"])
        for algorithm in SigningAlgorithm.allCases {
            #expect(SigningAlgorithm(rawValue: algorithm.rawValue) == algorithm)
        }
        #expect(String(decoding: try JSONEncoder().encode([SigningAlgorithm.es256]), as: UTF8.self) == #"["ES256"]"#)
    }
}
