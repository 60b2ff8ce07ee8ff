import CounterfoilProtocol
import CounterfoilResource
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The nonces of an API (RFC 9449 §9).
@Suite struct ProofNonceTests {
    // RFC 9449 §9.
    @Test func `a required nonce is demanded with status 401 and sent in the response`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(proofs: ProofPolicy(nonces: .required()))
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let refusal = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: prover.request(token))
            }
            #expect(refusal.status == .unauthorized)
            #expect(refusal.error?.code == .useDPoPNonce)
            #expect(refusal.headerFields[.wwwAuthenticate]?.hasPrefix(#"DPoP error="use_dpop_nonce""#) == true)
            let nonces = refusal.headerFields.proofNonces
            #expect(nonces.count == 1)
            let access = try await server.access(for: prover.request(token, nonce: nonces.first))
            #expect(server.recognizes(access))
            let without = try await authority.resourceServer().access(for: prover.request(token))
            #expect(!server.recognizes(without))
        }
    }

    // RFC 9449 §4.3 check 10 and §9.
    @Test func `a nonce that is sent must be valid, even if none is required`() async throws {
        try await Authority.run { authority async throws in
            let clock = TestClock()
            let server = authority.resourceServer(clock: clock, proofs: ProofPolicy(nonces: .offered()))
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let request = try prover.request(token)
            #expect(try await server.access(for: request).subject == "anna")
            let nonce = try #require(server.proofNonce(for: request))
            #expect(try await server.access(for: prover.request(token, nonce: nonce)).subject == "anna")
            clock.advance(by: 400)
            for nonce in [nonce, "x"] {
                let refusal = try await #require(throws: AccessRefusal.self) {
                    try await server.access(for: prover.request(token, nonce: nonce, at: clock.now))
                }
                #expect(refusal.error?.code == .useDPoPNonce)
                #expect(refusal.headerFields.proofNonces.count == 1)
            }
        }
    }

    // Several processes of an API have one key, which is no part of any output.
    @Test func `a second process with the same key accepts the nonce`() async throws {
        try await Authority.run { authority async throws in
            let key = ProofNonceKey()
            let stored = try #require(ProofNonceKey(key.exposed))
            let first = authority.resourceServer(proofs: ProofPolicy(nonces: .required(key: key)))
            let second = authority.resourceServer(proofs: ProofPolicy(nonces: .required(key: stored)))
            let stranger = authority.resourceServer(proofs: ProofPolicy(nonces: .required()))
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let nonce = first.proofNonce(for: try prover.request(token))
            #expect(try await second.access(for: prover.request(token, nonce: nonce)).subject == "anna")
            await #expect(throws: AccessRefusal.self) {
                try await stranger.access(for: prover.request(token, nonce: nonce))
            }
            var text = "\(key) \(String(reflecting: ProofPolicy(nonces: .required(key: key))))"
            dump(ProofPolicy(nonces: .required(key: key)), to: &text)
            #expect(!text.contains(key.exposed))
        }
    }

    @Test(arguments: ["", "short", String(repeating: "A", count: 42), String(repeating: "A", count: 100), "=", "é"])
    func `a key of less than 32 bytes is refused`(text: String) { #expect(ProofNonceKey(text) == nil) }

    // RFC 9449 §8.2: a response to a request without a proof needs no nonce.
    @Test func `each refusal of a request with a proof has one nonce, and no other has one`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(proofs: ProofPolicy(nonces: .offered()))
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            var bearer = try prover.request(token)
            bearer.headerFields[.authorization] = "Bearer \(token.exposed)"
            for (request, count) in [
                (HTTPRequest.get(), 0), (.get(authorization: "Bearer x"), 0), (.get(dpop: token, proofs: []), 1),
                (.get(dpop: token, proofs: ["x"]), 1), (bearer, 1), (.get(dpop: token, proofs: ["x", "y"]), 1),
            ] {
                let refusal = try await #require(throws: AccessRefusal.self) { try await server.access(for: request) }
                #expect(refusal.headerFields.proofNonces.count == count)
            }
        }
    }

    // The default: processes with random keys would refuse each other's nonces.
    @Test func `an API without nonces sends none and ignores the claim`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let request = try prover.request(token, nonce: "of another process")
            #expect(server.proofNonce(for: request) == nil)
            #expect(try await server.access(for: request).subject == "anna")
        }
    }
}
