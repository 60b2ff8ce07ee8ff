import CounterfoilProtocol
import Foundation
import Testing

@testable @_spi(Counterfoil) import CounterfoilTokens

/// Tests of the encodings of RSA keys, which the code for Apple platforms needs.
///
/// The keys are from OpenSSL: `genrsa`, `rsa -RSAPublicKey_out` and `pkcs8 -topk8`. They have 512 bits and protect
/// nothing.
struct RSAKeyEncodingTests {
    private static let privateKey = bytes(
        """
            MIIBOgIBAAJBAKamCfyKq5fLPpPZb4GaIW2X5QbO7ccUtVeojrW1eQjIVeHb6AIDP3JEeQZ3Mmro5tMdQmtIokUEBclpEzBM9U0C\
            AwEAAQJAWcJG0LpUEA9Npk7QK2s8JA5TMmaUVc1Gm29TZnXXOi3m5rHESqzZHAG1tdGbgFD2S0NkEOiBYu0g964hd4wrtQIhANFN\
            hFbqhtwIjg+hkgg8Jvd9scPAGyuvivbxFaD6Z93rAiEAy9RLprq/1E3DbKdh2g1dTeyW+jW+ZELom1phm97IU6cCIQCfyCyiabIA\
            YeuJlU+1R657u5IsnQhhBkbxE8TuOpt2dwIgWXXH7lmwsCGhUCL205liBj181jyYX7DuHqFAjgTtr6kCIGuhCyodN7+jJWVS1pAl\
            bVX306ooOajJvEltwPx38Dpq
        """)
    private static let wrappedPrivateKey = bytes(
        """
            MIIBVAIBADANBgkqhkiG9w0BAQEFAASCAT4wggE6AgEAAkEApqYJ/Iqrl8s+k9lvgZohbZflBs7txxS1V6iOtbV5CMhV4dvoAgM/\
            ckR5Bncyaujm0x1Ca0iiRQQFyWkTMEz1TQIDAQABAkBZwkbQulQQD02mTtArazwkDlMyZpRVzUabb1Nmddc6LebmscRKrNkcAbW1\
            0ZuAUPZLQ2QQ6IFi7SD3riF3jCu1AiEA0U2EVuqG3AiOD6GSCDwm932xw8AbK6+K9vEVoPpn3esCIQDL1Eumur/UTcNsp2HaDV1N\
            7Jb6Nb5kQuibWmGb3shTpwIhAJ/ILKJpsgBh64mVT7VHrnu7kiydCGEGRvETxO46m3Z3AiBZdcfuWbCwIaFQIvbTmWIGPXzWPJhf\
            sO4eoUCOBO2vqQIga6ELKh03v6MlZVLWkCVtVffTqig5qMm8SW3A/HfwOmo=
        """)
    private static let publicKey = bytes(
        """
            MEgCQQCmpgn8iquXyz6T2W+BmiFtl+UGzu3HFLVXqI61tXkIyFXh2+gCAz9yRHkGdzJq6ObTHUJrSKJFBAXJaRMwTPVNAgMBAAE=
        """)
    private static let ed25519 = bytes("MC4CAQAwBQYDK2VwBCIEIIrH9cwwNPJyJ0y96HxyIJuYtCWfYWpsNtu4NrzocUrZ")

    private static func bytes(_ text: String) -> [UInt8] {
        Array(Data(base64Encoded: text.filter { !$0.isWhitespace }) ?? Data())
    }

    // RFC 8017 appendix A.1.1
    @Test func `a public key is encoded and parsed as OpenSSL does`() throws {
        let numbers = try #require(RSAKeyEncoding.numbers(ofPublicKey: Self.publicKey))
        #expect(numbers.modulus.count == 64)
        #expect(numbers.exponent == [1, 0, 1])
        #expect(RSAKeyEncoding.publicKey(modulus: numbers.modulus, exponent: numbers.exponent) == Self.publicKey)
        // Leading zeros change nothing, and a number whose first bit is zero gets no sign.
        #expect(
            RSAKeyEncoding.publicKey(modulus: [0, 0] + numbers.modulus, exponent: [0, 1, 0, 1]) == Self.publicKey)
        #expect(RSAKeyEncoding.publicKey(modulus: [0x7F], exponent: [0x80]) == [48, 7, 2, 1, 0x7F, 2, 2, 0, 0x80])
    }

    @Test func `the lengths of keys up to 8192 bits survive an encoding`() throws {
        for count in [1, 127, 128, 255, 256, 257, 1024] {
            let modulus = [UInt8](repeating: 0xC1, count: count)
            let encoded = RSAKeyEncoding.publicKey(modulus: modulus, exponent: [3])
            #expect(RSAKeyEncoding.numbers(ofPublicKey: encoded)?.modulus == modulus, "\(count)")
        }
    }

    // RFC 5208 §5, RFC 8017 appendix A.1.2
    @Test func `a private key is taken out of PKCS 8`() {
        #expect(RSAKeyEncoding.privateKey(in: Self.wrappedPrivateKey) == Self.privateKey)
        #expect(RSAKeyEncoding.privateKey(in: Self.privateKey) == Self.privateKey)
        #expect(RSAKeyEncoding.privateKey(in: Self.ed25519) == nil)
        #expect(RSAKeyEncoding.privateKey(in: Self.publicKey) == nil)
    }

    @Test func `every truncated or prolonged key is refused`() {
        for key in [Self.privateKey, Self.wrappedPrivateKey] {
            for count in 0..<key.count { #expect(RSAKeyEncoding.privateKey(in: Array(key[..<count])) == nil) }
            #expect(RSAKeyEncoding.privateKey(in: key + [0]) == nil)
        }
        for count in 0..<Self.publicKey.count {
            #expect(RSAKeyEncoding.numbers(ofPublicKey: Array(Self.publicKey[..<count])) == nil)
        }
        #expect(RSAKeyEncoding.numbers(ofPublicKey: [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]) == nil)
    }

    // RFC 7518 §3.3
    @Test func `a key restored from either encoding signs for the same public key`() throws {
        let key = try RSAPrivateKey()
        let restored = try #require(RSAPrivateKey(derRepresentation: key.derRepresentation))
        let publicKey = try key.publicKey()
        #expect(publicKey.bitCount == 2048)
        #expect(RSAKeyEncoding.privateKey(in: key.derRepresentation) == key.derRepresentation)
        for padding in [RSAPadding.pkcs1, .pss] {
            let signature = Array(try restored.signature(for: [1, 2, 3], padding: padding))
            #expect(publicKey.isValidSignature(signature, for: [1, 2, 3] as [UInt8], padding: padding))
            #expect(!publicKey.isValidSignature(signature, for: [1, 2, 4] as [UInt8], padding: padding))
        }
        let signature = Array(try restored.signature(for: [1], padding: .pkcs1))
        #expect(!publicKey.isValidSignature(signature, for: [1] as [UInt8], padding: .pss))
    }
}
