@_spi(Counterfoil) import CounterfoilProtocol
import TestSupport
import Testing

struct CodeVerifierTests {
    // RFC 7636 appendix B
    @Test func `the example verifier of the standard has the challenge of the standard`() throws {
        let octets: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191,
            240,
            91, 88, 5, 88, 83, 132, 141, 121,
        ]
        let verifier = try #require(CodeVerifier(Base64URL.encode(octets)))
        #expect(verifier.exposed == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        let challenge = CodeChallenge(of: verifier)
        #expect(challenge.rawValue == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(challenge.matches(verifier))
        #expect(CodeChallenge.method == "S256")
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a verifier has 43 to 128 unreserved characters, and its challenge 43 characters`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            let text = random.text(43...128, of: Alphabet.unreserved)
            let verifier = try #require(CodeVerifier(text))
            #expect(verifier.exposed == text)
            let challenge = CodeChallenge(of: verifier)
            #expect(CodeChallenge(challenge.rawValue) == challenge)
            #expect(challenge.rawValue.utf8.count == 43)
            #expect(challenge.matches(verifier))
            let other = try #require(CodeVerifier(random.text(43...128, of: Alphabet.unreserved)))
            #expect(!challenge.matches(other))
        }
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 42), String(repeating: "a", count: 129),
        String(repeating: "a", count: 42) + "=", String(repeating: "a", count: 42) + "+",
        String(repeating: "a", count: 42) + "/", String(repeating: "a", count: 42) + " ",
        String(repeating: "a", count: 42) + "\n", String(repeating: "a", count: 42) + "é",
        String(repeating: "a", count: 42) + "\0", String(repeating: "é", count: 43),
    ])
    func `an invalid verifier is refused`(text: String) {
        #expect(CodeVerifier(text) == nil)
    }

    @Test(arguments: [
        "", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cMM", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw/cM", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw.cM", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw~cM",
    ])
    func `a text that SHA-256 cannot encode to is not a challenge`(text: String) {
        #expect(CodeChallenge(text) == nil)
    }

    @Test func `a new verifier is 32 random bytes in 43 characters`() {
        let known = CodeVerifier(random: RandomBytes { [UInt8](repeating: 0xFF, count: $0) })
        #expect(known.exposed == String(repeating: "_", count: 42) + "8")
        let many = Set((0..<256).map { _ in CodeVerifier() })
        #expect(many.count == 256)
        #expect(many.allSatisfy { $0.exposed.utf8.count == 43 })
    }

    // RFC 7636 §4.1
    @Test(arguments: ["", "=", "==", "+/", "+/="])
    func `a server accepts a verifier in plain base64`(end: String) {
        #expect(CodeVerifier(presented: String(repeating: "a", count: 43) + end) != nil)
        #expect(end.isEmpty || CodeVerifier(String(repeating: "a", count: 43) + end) == nil)
    }

    @Test(arguments: [
        String(repeating: "a", count: 43) + "===", "=" + String(repeating: "a", count: 43),
        String(repeating: "a", count: 20) + "=" + String(repeating: "a", count: 23), String(repeating: "=", count: 43),
        String(repeating: "a", count: 42), String(repeating: "a", count: 128) + "=",
        String(repeating: "a", count: 43) + " ", String(repeating: "a", count: 43) + "é",
    ])
    func `a server accepts no other character and no other length`(text: String) {
        #expect(CodeVerifier(presented: text) == nil)
    }
}
