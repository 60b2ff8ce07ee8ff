import CounterfoilProtocol
import TestSupport
import Testing

struct Base64URLTests {
    @Test(arguments: SeededGenerator.seeds)
    func `any bytes are unchanged after encoding and decoding`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            let bytes = random.bytes(0...70)
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text) == bytes)
            #expect(text.allSatisfy { $0 != "=" && $0 != "+" && $0 != "/" })
        }
    }

    // RFC 4648 §10, without padding.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the test vectors of the standard are encoded`(plain: String, encoded: String) {
        #expect(Base64URL.encode(plain.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(plain.utf8))
    }

    // `+` becomes `-` and `/` becomes `_`.
    @Test func `the last two characters of the alphabet are those of base64url`() {
        #expect(Base64URL.encode([0xFB, 0xEF, 0xBE]) == "----")
        #expect(Base64URL.encode([0xFF, 0xFF, 0xFF]) == "____")
    }

    @Test(arguments: ["Zg==", "Zm8=", "Z", "Zm9v Zg", "Zm9v\n", "Zm+v", "Zm/v", "Zh", "Zm9", "Zmé9", "\u{0}Zg", "=="])
    func `a text that is not the canonical encoding of its bytes is refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
