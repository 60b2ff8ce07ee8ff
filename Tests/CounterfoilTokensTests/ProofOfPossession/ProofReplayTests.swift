import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

/// The memory of used DPoP proofs (RFC 9449 §11.1).
struct ProofReplayTests {
    private static let now = Authority.now

    /// Returns a verified proof of a key.
    private static func proof(
        _ id: String, of prover: Prover, issuedAt: Date = now, verifiedAt: Date? = nil
    ) throws -> VerifiedDPoPProof {
        let proof = try prover.proof(
            claims: prover.claims.replacing("-BwC3ESc6acc2lTc", with: id)
                .replacing("1800000000", with: "\(Int(issuedAt.timeIntervalSince1970))"))
        return try #require(try prover.verify(proof, at: verifiedAt ?? issuedAt).get())
    }

    // RFC 9449 §11.1
    @Test func `a proof counts once, and the same jti of another key is another proof`() throws {
        let (anna, bert) = (try Prover(), try Prover())
        let memory = ProofReplayMemory()
        #expect(memory.note(try Self.proof("1", of: anna), at: Self.now) == .new)
        #expect(memory.note(try Self.proof("1", of: anna), at: Self.now) == .used)
        #expect(memory.note(try Self.proof("1", of: bert), at: Self.now) == .new)
        #expect(memory.note(try Self.proof("2", of: anna), at: Self.now) == .new)
        #expect(memory.note(try Self.proof("1", of: bert), at: Self.now) == .used)
    }

    // RFC 9449 §11.1. Each proof of the ten minutes in which the first one could be accepted.
    @Test(arguments: [-299.0, -240, -61, -1, 1, 61, 240, 299])
    func `a jti counts once, whenever the second proof was issued`(seconds: Double) throws {
        let prover = try Prover()
        let memory = ProofReplayMemory()
        #expect(memory.note(try Self.proof("1", of: prover), at: Self.now) == .new)
        let second = try Self.proof(
            "1", of: prover, issuedAt: Self.now.addingTimeInterval(seconds), verifiedAt: Self.now)
        #expect(memory.note(second, at: Self.now) == .used)
    }

    // Until it would be rejected for its age.
    @Test func `a proof is remembered for as long as it would be accepted`() throws {
        let prover = try Prover()
        let memory = ProofReplayMemory()
        let early = Self.now.addingTimeInterval(299)
        let proof = try Self.proof("1", of: prover, issuedAt: early, verifiedAt: Self.now)
        #expect(memory.note(proof, at: Self.now) == .new)
        for seconds in stride(from: 0.0, through: 599, by: 59.9) {
            #expect(memory.note(proof, at: Self.now.addingTimeInterval(seconds)) == .used)
        }
        #expect(throws: DPoPProofRefusal.notCurrent) {
            try Self.proof("1", of: prover, issuedAt: early, verifiedAt: Self.now.addingTimeInterval(600))
        }
    }

    // A limit that forgot proofs would let an attacker use a stolen proof again.
    @Test func `a full memory refuses proofs and forgets none, until they expire`() throws {
        let memory = ProofReplayMemory(capacity: 16)
        let provers = try (0..<9).map { _ in try Prover() }
        for prover in provers.prefix(8) {
            for id in ["1", "2"] { #expect(memory.note(try Self.proof(id, of: prover), at: Self.now) == .new) }
        }
        #expect(memory.note(try Self.proof("1", of: provers[8]), at: Self.now) == .full)
        for prover in provers.prefix(8) {
            #expect(memory.note(try Self.proof("1", of: prover), at: Self.now) == .used)
        }
        let later = Self.now.addingTimeInterval(420)
        #expect(memory.note(try Self.proof("3", of: provers[8], issuedAt: later), at: later) == .new)
    }

    // One client must not make the proofs of all others fail.
    @Test func `one key cannot fill the memory`() throws {
        let memory = ProofReplayMemory(capacity: 80)
        let (greedy, other) = (try Prover(), try Prover())
        for id in 0..<10 { #expect(memory.note(try Self.proof("\(id)", of: greedy), at: Self.now) == .new) }
        #expect(memory.note(try Self.proof("11", of: greedy), at: Self.now) == .full)
        #expect(memory.note(try Self.proof("1", of: greedy), at: Self.now) == .used)
        #expect(memory.note(try Self.proof("1", of: other), at: Self.now) == .new)
    }

    // Two requests at once.
    @Test func `of many tasks with one proof exactly one is first`() async throws {
        let proof = try Self.proof("1", of: try Prover())
        let memory = ProofReplayMemory()
        let outcomes = await withTaskGroup(of: ProofReplayMemory.Outcome.self) { group in
            for _ in 0..<64 { group.addTask { memory.note(proof, at: Self.now) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == .new }.count == 1)
        #expect(outcomes.filter { $0 == .used }.count == 63)
    }
}

extension ProofReplayMemory {
    /// Notes a proof in the share of its key.
    fileprivate func note(_ proof: VerifiedDPoPProof, at now: Date) -> Outcome {
        note(Array(proof.digest), in: [.key(proof.thumbprint)], until: proof.expires, at: now)
    }
}
