import CounterfoilProtocol
import Foundation
import Testing

struct CodeVerifierTests {
    @Test func `10 000 verifiers are 43 allowed characters each, all different and evenly spread`() throws {
        let verifiers = (0..<10_000).map { _ in CodeVerifier().exposed }
        #expect(Set(verifiers).count == verifiers.count)
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        #expect(verifiers.allSatisfy { $0.utf8.count == 43 && $0.utf8.allSatisfy(allowed.contains) })

        // Each of the 64 characters is equally likely in each of the first 42 positions. Chi-squared with 63
        // degrees of freedom exceeds 140 in only one position in ten million.
        for place in 0..<42 {
            var counts: [UInt8: Double] = [:]
            for verifier in verifiers { counts[Array(verifier.utf8)[place], default: 0] += 1 }
            let expected = Double(verifiers.count) / 64
            let chiSquared = allowed.reduce(0) { sum, byte in
                sum + pow((counts[byte] ?? 0) - expected, 2) / expected
            }
            #expect(chiSquared < 140, "place \(place)")
        }
    }

    // The example of RFC 7636 appendix B
    @Test func `the challenge is the hash of the verifier in base64url without padding`() throws {
        let verifier = try #require(CodeVerifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(CodeChallenge(of: verifier).rawValue == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }
}
