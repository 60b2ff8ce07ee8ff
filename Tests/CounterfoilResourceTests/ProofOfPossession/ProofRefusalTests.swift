import CounterfoilProtocol
import CounterfoilResource
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Requests to an API with invalid DPoP proofs (RFC 9449 §4.3 and §7.1); the token is valid in all of them.
@Suite struct ProofRefusalTests {
    private static let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":JWK}"#

    private static func claims(_ token: AccessToken) -> String {
        """
        {"jti":"1","htm":"GET","htu":"https://photos.example/photos","iat":1800000000,\
        "ath":"\(DPoPProofClaims.hash(of: token))"}
        """
    }

    /// Expects status 401 with an error in the only challenge, that of DPoP, and no part of the proof in the response.
    private func expectRefusal(
        of request: HTTPRequest, by server: ResourceServer, _ error: String = "invalid_dpop_proof",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let refusal = try await #require(throws: AccessRefusal.self, sourceLocation: sourceLocation) {
            try await server.access(for: request)
        }
        #expect(refusal.status == .unauthorized, sourceLocation: sourceLocation)
        #expect(refusal.error?.code.rawValue == error, sourceLocation: sourceLocation)
        let field = try #require(refusal.headerFields[.wwwAuthenticate])
        let challenges = AuthenticationChallenge.list(in: field)
        #expect(challenges.map(\.scheme) == ["dpop"], sourceLocation: sourceLocation)
        #expect(challenges.last?["error"] == error, sourceLocation: sourceLocation)
        #expect(challenges.last?["algs"] == "ES256 RS256 Ed25519 EdDSA", sourceLocation: sourceLocation)
        #expect(!String(decoding: refusal.body, as: UTF8.self).contains("leak"), sourceLocation: sourceLocation)
    }

    @Test func `the unchanged proof of the tests below is accepted`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let proof = try prover.forge(header: Self.header, claims: Self.claims(token))
            let access = try await authority.resourceServer().access(for: .get(dpop: token, proofs: [proof]))
            #expect(access.keyThumbprint == (try prover.thumbprint))
        }
    }

    // RFC 9449 §4.3.
    @Test(arguments: [
        (#""typ":"dpop+jwt","#, ""), (#""dpop+jwt""#, #""JWT""#), (#""ES256""#, #""none""#), (#""ES256""#, #""HS256""#),
        (#""ES256""#, #""RS256""#), (#""jwk":JWK"#, #""leak":JWK"#), (#""kty":"EC""#, #""kty":"EC","d":"AAAA""#),
        (#""typ""#, #""crit":["leak"],"typ""#), (#""typ""#, #""jku":"https://leak.example","typ""#),
        (#""GET""#, #""POST""#), (#""https://photos.example/photos""#, #""https://leak.example/photos""#),
        ("https://photos.example/photos", "https://photos.example:8443/photos"),
        ("https://photos.example/photos", "https://photos.example/albums"),
        ("https://photos.example/photos", "http://photos.example/photos"), ("1800000000", "1800000301"),
        ("1800000000", "1799999699"), ("1800000000", "1800003600"), ("1800000000", "1799996400"),
        ("1800000000", #""1800000000""#), (#""iat""#, #""leak""#), (#""jti""#, #""leak""#), (#""1""#, "\"\""),
        (#""ath""#, #""leak""#), (#""ath":""#, #""ath":"leak"#),
    ])
    func `an invalid proof is refused with status 401`(part: String, forged: String) async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let original = try prover.forge(header: Self.header, claims: Self.claims(token))
            var header = Self.header.replacing(part, with: forged)
            // The public key is filled in when the proof is signed.
            if part.contains("kty") { header = header.replacing("JWK", with: #"{"kty":"EC","d":"AAAA"}"#) }
            let proof = try prover.forge(
                header: header, claims: Self.claims(token).replacing(part, with: forged))
            #expect(proof.split(separator: ".").prefix(2) != original.split(separator: ".").prefix(2))
            try await expectRefusal(of: .get(dpop: token, proofs: [proof]), by: authority.resourceServer())
        }
    }

    // RFC 9449 §4.3 checks 1, 2 and 6.
    @Test func `a request without exactly one signed proof is refused`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let proof = try prover.proof(for: token)
            let parts = proof.split(separator: ".")
            for proofs in [
                [], [proof, proof], [proof, try prover.proof(for: token)], ["\(proof), \(proof)"], [""], ["leak"],
                ["\(parts[0]).\(parts[1])."], ["\(parts[0]).\(parts[1]).\(parts[2].dropLast(4))AAAA"],
                [token.exposed], [proof + ".x"], [String(repeating: "A", count: 100_000)],
            ] {
                try await expectRefusal(of: .get(dpop: token, proofs: proofs), by: authority.resourceServer())
            }
        }
    }

    // The window is 300 seconds in either direction.
    @Test(arguments: [10, -10, 299, -299]) func `clocks may differ`(offset: TimeInterval) async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let request = try prover.request(token, at: Authority.now.addingTimeInterval(offset))
            #expect(try await authority.resourceServer().access(for: request).subject == "anna")
        }
    }

    // RFC 9449 §11.1.
    @Test func `a proof is accepted once, also of two requests at once`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let server = authority.resourceServer()
            let request = try prover.request(token)
            let accepted = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 { group.addTask { (try? await server.access(for: request)) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(accepted == 1)
            try await expectRefusal(of: request, by: server)
            // Another client may use the same jti.
            let other = try Prover()
            let others = try authority.token(boundTo: other)
            let first = try prover.request(token, id: "1")
            let second = try other.request(others, id: "1")
            #expect(try await server.access(for: first).subject == "anna")
            #expect(try await server.access(for: second).subject == "anna")
        }
    }

    // One user has an eighth, with any number of keys.
    @Test func `one user cannot fill the memory of proofs with several keys`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(proofs: ProofPolicy(proofLimit: 16))
            for _ in 0..<2 {
                let prover = try Prover()
                _ = try await server.access(for: prover.request(try authority.token(boundTo: prover)))
            }
            let prover = try Prover()
            let full = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: prover.request(try authority.token(boundTo: prover)))
            }
            #expect(full.status == .serviceUnavailable)
        }
    }

    // A full memory refuses; a request that is refused uses no memory.
    @Test func `a full memory of proofs is 503, and only good requests fill it`() async throws {
        try await Authority.run { authority async throws in
            let clock = TestClock()
            let server = authority.resourceServer(clock: clock, proofs: ProofPolicy(proofLimit: 16))
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let stranger = try Prover()
            for _ in 0..<20 {
                let refused = try stranger.request(token)
                await #expect(throws: AccessRefusal.self) { try await server.access(for: refused) }
            }
            let first = try prover.request(token)
            _ = try await server.access(for: first)
            _ = try await server.access(for: prover.request(token))
            let full = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: prover.request(token))
            }
            #expect(full.status == .serviceUnavailable)
            #expect(full.headerFields[.retryAfter] == "60")
            #expect(full.headerFields[.wwwAuthenticate] == nil)
            try await expectRefusal(of: first, by: server)
            clock.advance(by: 420)
            let later = try prover.request(token, at: clock.now)
            #expect(try await server.access(for: later).subject == "anna")
        }
    }
}
