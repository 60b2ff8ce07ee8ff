import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import Testing

/// The nonces of DPoP proofs (RFC 9449 §8, §9 and §4.3 check 10).
struct ProofNonceTests {
    let prover: Prover

    init() throws { prover = try Prover() }

    private func proof(nonce: String) throws -> String {
        try prover.proof(changing: #""ath""#, to: #""nonce":"\#(nonce)","ath""#)
    }

    // RFC 9449 §9.
    @Test func `a proof without the required nonce is refused, and one with it is accepted`() throws {
        let missing = try #require(try prover.verify(prover.proof(), requiringNonce: true).refusal)
        #expect(missing == .nonceRequired)
        #expect(missing.asksForNonce)
        let verified = try prover.verify(proof(nonce: Prover.nonce()), requiringNonce: true).get()
        #expect(verified?.containsNonce == true)
    }

    // A nonce that is sent must be valid, also if none is required.
    @Test(arguments: [true, false])
    func `an invalid nonce is refused`(isRequired: Bool) throws {
        let good = Prover.nonce()
        let another = Prover.nonce(key: SymmetricKey(size: .bits256))
        let expired = Prover.nonce(at: Authority.now.addingTimeInterval(-331))
        let future = Prover.nonce(at: Authority.now.addingTimeInterval(61))
        let last = good.last == "A" ? "B" : "A"
        let later = Base64URL.encode([0, 0, 0, 0, 0xFF] + (try #require(Base64URL.decode(good))).dropFirst(5))
        for nonce in [
            "", "x", another, expired, future, String(good.dropLast()), good.dropLast() + last, later, good + "A",
            String(repeating: "A", count: 10_000),
        ] {
            let refusal = try #require(
                try prover.verify(proof(nonce: nonce), requiringNonce: isRequired).refusal, "\(nonce)")
            #expect(refusal == .nonceInvalid || refusal == .token(.tooLarge))
        }
    }

    // The lifetime is counted from the start of a step of 30 seconds.
    @Test(arguments: [(0, true), (30, true), (270, true), (300, true), (331, false), (-30, true), (-31, false)])
    func `a nonce is valid for five minutes`(age: Int, isValid: Bool) throws {
        let made = Date(timeIntervalSince1970: 1_800_000_000)
        let now = made.addingTimeInterval(TimeInterval(age))
        let proof = try prover.proof(
            claims: prover.claims.replacing("1800000000", with: "\(1_800_000_000 + age)")
                .replacing(#""ath""#, with: #""nonce":"\#(Prover.nonce(at: made))","ath""#))
        #expect(try prover.verify(proof, requiringNonce: true, at: now).refusal == (isValid ? nil : .nonceInvalid))
    }

    // Nothing is stored: the key and the time decide.
    @Test func `a second server with the same key accepts the nonce`() throws {
        let bytes = Prover.nonceKey.withUnsafeBytes { Array($0) }
        let nonce = ProofNonces(key: SymmetricKey(data: bytes)).nonce(at: Authority.now)
        #expect(nonce == Prover.nonce())
        #expect(try prover.verify(proof(nonce: nonce), requiringNonce: true).refusal == nil)
    }

    // A server keeps the nonces that it made last; the others are computed again.
    @Test func `nonces of earlier steps remain valid after newer ones were made`() throws {
        let nonces = ProofNonces(key: Prover.nonceKey)
        let made = (0..<8).map { nonces.nonce(at: Authority.now.addingTimeInterval(TimeInterval($0 - 8) * 30)) }
        #expect(Set(made).count == 8)
        let verifier = DPoPProofVerifier(nonces: nonces, requiresNonce: true)
        let uri = try #require(ProofURI(Prover.url))
        for nonce in made + [nonces.nonce(at: Authority.now)] {
            let verified = try verifier.verify(
                [proof(nonce: nonce)], method: "GET", uris: [uri], presenting: prover.token, at: Authority.now)
            #expect(verified?.containsNonce == true)
        }
    }

    // RFC 9449 §8: a nonce is base64url, which every client can put into JSON and a field.
    @Test func `a nonce changes every 30 seconds`() {
        let nonces = (0..<4).map { Prover.nonce(at: Authority.now.addingTimeInterval(TimeInterval($0 * 15))) }
        #expect(nonces[0] == nonces[1] && nonces[2] == nonces[3] && nonces[1] != nonces[2])
        #expect(nonces[0].utf8.count == 32)
    }

    @Test func `a server without nonces ignores the claim`() throws {
        let verifier = DPoPProofVerifier(nonces: nil, requiresNonce: false)
        let uri = try #require(ProofURI(Prover.url))
        let verified = try verifier.verify(
            [proof(nonce: "of another server")], method: "GET", uris: [uri], presenting: prover.token, at: Authority.now
        )
        #expect(verified?.containsNonce == false)
    }
}
