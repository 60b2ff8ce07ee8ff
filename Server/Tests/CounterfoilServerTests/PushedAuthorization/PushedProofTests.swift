@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// DPoP proofs in pushed authorization requests (RFC 9449 §10.1).
struct PushedProofTests {
    private static let url = "https://id.example.com/oauth2/par"

    /// The fields of a pushed request with a proof.
    private static func fields(_ proof: String) throws -> HTTPFields { [try #require(HTTPField.Name("DPoP")): proof] }

    /// Expects that the code of a request is redeemed with a proof of a key, and not without it.
    private static func expectBound(_ pushed: PushedAttempt, to key: TestProofKey) async throws {
        let test = pushed.test
        let form = pushed.attempt.exchange(try await pushed.authorize().code)
        for fields in [try test.proving(try TestProofKey()), [:]] {
            let refused = await test.redeem(form, fields: fields)
            #expect(refused.status == .badRequest)
            #expect(try refused.tokenError.error == "invalid_grant")
        }
        #expect(try await test.redeem(form, fields: try test.proving(key)).tokenResponse.tokenType == "DPoP")
    }

    @Test func `a proof binds the code to its key`() async throws {
        let test = try await TestServer()
        let key = try TestProofKey()
        let reply = await Attempt(test).push(fields: try Self.fields(try key.proof(Self.url, at: test.clock.wall)))
        #expect(reply.status == .created)
        #expect(reply.proofNonce != nil)
        let pushed = try await PushedAttempt(
            Attempt(test), fields: try Self.fields(try key.proof(Self.url, at: test.clock.wall)))
        try await Self.expectBound(pushed, to: key)
    }

    @Test func `a proof and dpop_jkt must name the same key`() async throws {
        let test = try await TestServer()
        let (key, other) = (try TestProofKey(), try TestProofKey())
        let attempt = Attempt(test).with("dpop_jkt", key.thumbprint)
        let refused = await attempt.push(fields: try Self.fields(try other.proof(Self.url, at: test.clock.wall)))
        #expect(refused.status == .badRequest)
        #expect(try refused.tokenError.error == "invalid_dpop_proof")
        let pushed = try await PushedAttempt(
            attempt, fields: try Self.fields(try key.proof(Self.url, at: test.clock.wall)))
        try await Self.expectBound(pushed, to: key)
    }

    // RFC 9449 §4.3
    @Test func `a request with a bad proof is refused and not stored`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let key = try TestProofKey()
        let now = test.clock.wall
        for proof in [
            "", "not.a.proof", try key.proof(for: .get, Self.url, at: now),
            try key.proof("https://id.example.com/oauth2/token", at: now), try key.proof(Self.url, at: now - 600),
        ] {
            let reply = await Attempt(test).push(fields: try Self.fields(proof))
            #expect(reply.status == .badRequest)
            #expect(try reply.tokenError.error == "invalid_dpop_proof")
            #expect(reply.fields[.wwwAuthenticate] == nil)
        }
        #expect(store.calls(of: .addPushedRequest) == 0)
    }

    // RFC 9449 §11.1
    @Test func `a proof counts once, and only in a request that is accepted`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let fields = try Self.fields(try TestProofKey().proof(Self.url, at: test.clock.wall))
        #expect(try await Attempt(test).with("response_type", "token").pushError(fields: fields) != .invalidDPoPProof)
        #expect(await Attempt(test).push(fields: fields).status == .created)
        let replayed = await Attempt(test).push(fields: fields)
        #expect(replayed.status == .badRequest)
        #expect(try replayed.tokenError.error == "invalid_dpop_proof")
        // The replayed request is removed again.
        #expect(store.calls(of: .removePushedRequest) == 1)
    }

    @Test func `a request beyond the limit uses up no proof`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let key = try TestProofKey()
        for _ in 0..<500 { #expect(await Attempt(test).push().status == .created) }
        let fields = try Self.fields(try key.proof(Self.url, at: test.clock.wall))
        for _ in 0..<2 { #expect(await Attempt(test).push(fields: fields).status == .tooManyRequests) }
        #expect(store.calls(of: .noteProof) == 0)
        #expect(await Attempt(test).push(fields: fields, source: "198.51.100.7").status == .created)
    }

    @Test func `the proofs of pushed requests leave room for those of tokens`() async throws {
        let memory = ProcessProofs(capacity: 320)
        let time = Date(timeIntervalSince1970: 1_800_000_000)
        func note(_ holder: ProofHolder) async throws -> NoteProofOutcome {
            let digest = try #require(ArtefactDigest(stored: RandomBytes().bytes(32)))
            return await memory.noteProof(UsedProof(digest: digest, holder: holder, expires: time + 300), at: time)
        }
        func recorded(_ count: Int, _ holder: (Int) throws -> ProofHolder) async throws -> Int {
            var new = 0
            for number in 0..<count { new += try await note(try holder(number)) == .new ? 1 : 0 }
            return new
        }
        let key = try #require(KeyThumbprint(try TestProofKey().thumbprint))
        func pushing(from source: String) -> ProofHolder {
            .anyone(at: CountedSource(source), with: key).withoutGrant()
        }
        // A source has a thirty-second of the memory, and an IPv6 network of 48 bits four times as much.
        #expect(try await recorded(400) { _ in pushing(from: "192.0.2.1") } == 10)
        #expect(try await recorded(400) { pushing(from: "2001:db8:2:\(String($0 * 61, radix: 16))::/64") } == 40)
        // All of them together have half.
        #expect(try await recorded(400) { pushing(from: "198.51.100.\($0 / 2)") } == 110)
        // One user has an eighth, with any number of keys, and others have the rest.
        let (alice, bob) = (UserIdentifier(), UserIdentifier())
        #expect(try await recorded(400) { _ in .user(alice) } == 40)
        #expect(try await note(.user(bob)) == .new)
    }

    // RFC 9449 §8
    @Test func `a required nonce is demanded and supplied`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store) { $0.requiresProofNonce = true }
        let key = try TestProofKey()
        let asked = await Attempt(test).push(fields: try Self.fields(try key.proof(Self.url, at: test.clock.wall)))
        #expect(asked.status == .badRequest)
        #expect(try asked.tokenError.error == "use_dpop_nonce")
        #expect(store.calls(of: .addPushedRequest) == 0)
        // Exactly one field.
        let nonce = try #require(asked.proofNonce)
        let proof = try key.proof(Self.url, at: test.clock.wall, nonce: nonce)
        #expect(await Attempt(test).push(fields: try Self.fields(proof)).status == .created)
    }
}
