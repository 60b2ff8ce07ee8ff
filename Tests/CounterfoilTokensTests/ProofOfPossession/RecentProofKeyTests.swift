import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

/// Verifiers that parsed the header of a proof before (RFC 9449 §4.3).
struct RecentProofKeyTests {
    let verifier = DPoPProofVerifier(nonces: nil, requiresNonce: false)

    private func thumbprint(of proof: String, by prover: Prover) throws -> KeyThumbprint? {
        let uri = try #require(ProofURI(Prover.url))
        return try verifier.verify([proof], method: "GET", uris: [uri], presenting: prover.token, at: Authority.now)?
            .thumbprint
    }

    @Test func `a header that was verified before does not make another signature valid`() throws {
        let prover = try Prover()
        let first = try thumbprint(of: prover.proof(), by: prover)
        let stolen = try Prover().proof(header: prover.header)
        #expect(throws: DPoPProofRefusal.token(.badSignature)) { try thumbprint(of: stolen, by: prover) }
        let forged = try prover.proof().split(separator: ".")
        let claims = prover.claims.replacing("-BwC3ESc6acc2lTc", with: "another")
        let changed = "\(forged[0]).\(Base64URL.encode(Array(claims.utf8))).\(forged[2])"
        #expect(throws: DPoPProofRefusal.token(.badSignature)) { try thumbprint(of: changed, by: prover) }
        #expect(try thumbprint(of: prover.proof(), by: prover) == first)
    }

    @Test func `the claims of each proof are checked, also if the header is that of an earlier one`() throws {
        let prover = try Prover()
        _ = try thumbprint(of: prover.proof(), by: prover)
        let other = try prover.proof(changing: #""htm":"GET""#, to: #""htm":"POST""#)
        #expect(throws: DPoPProofRefusal.wrongMethod) { try thumbprint(of: other, by: prover) }
    }

    // RFC 9449 §4.3 check 7: a private key in the header is refused each time.
    @Test func `a header that was refused is refused again`() throws {
        let prover = try Prover()
        let header = prover.header.replacing(#""kty""#, with: #""d":"AQ","kty""#)
        for _ in 0..<2 {
            let proof = try prover.proof(header: header)
            #expect(throws: DPoPProofRefusal.unusableKey(.privateMaterial)) { try thumbprint(of: proof, by: prover) }
        }
    }

    // More than the 4096 keys that a verifier remembers.
    @Test func `proofs of many keys each get the thumbprint of their own key`() throws {
        let first = try Prover()
        let expected = try thumbprint(of: first.proof(), by: first)
        var seen: Set<KeyThumbprint?> = [expected]
        for _ in 0..<5000 {
            let prover = try Prover()
            seen.insert(try thumbprint(of: prover.proof(), by: prover))
        }
        #expect(seen.count == 5001)
        #expect(try thumbprint(of: first.proof(), by: first) == expected)
    }
}
