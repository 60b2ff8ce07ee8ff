import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// DPoP proofs at the token endpoint: the checks of RFC 9449 §4.3, nonces and replay.
struct ProofTests {
    private static let url = "https://id.example.com/oauth2/token"

    /// A code of alice for Lightbox, ready to be redeemed with any proof.
    private struct Ready {
        let test: TestServer
        let form: FormParameters

        init(configure: (inout ServerSettings) -> Void = { _ in }) async throws {
            test = try await TestServer(configure: configure)
            let attempt = Attempt(test)
            form = attempt.exchange(try await attempt.authorize().code)
        }

        func redeem(_ proofs: String...) async throws -> Reply {
            let name = try #require(HTTPField.Name("DPoP"))
            var fields: HTTPFields = [:]
            for proof in proofs { fields.append(HTTPField(name: name, value: proof)) }
            var sent: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            for field in fields { sent.append(field) }
            return await test.send(.post, to: .token, fields: sent, body: Array(form.encoded.utf8))
        }

        func expectRefused(_ proof: String, _ code: String = "invalid_dpop_proof") async throws {
            let reply = try await redeem(proof)
            #expect(reply.status == .badRequest)
            #expect(try reply.tokenError.error == code)
            #expect(reply.fields[.wwwAuthenticate] == nil)
            #expect(reply.proofNonce != nil)
        }
    }

    // At the token endpoint, a bad proof is answered with 400, and the code is not used up.
    @Test func `a bad proof is refused with 400, and the code stays valid`() async throws {
        let ready = try await Ready()
        let key = try TestProofKey()
        let now = ready.test.clock.wall
        for proof in [
            "", "not.a.proof", try key.proof(for: .get, Self.url, at: now),
            try key.proof("https://id.example.com:8443/oauth2/token", at: now),
            try key.proof("https://id.example.com/oauth2/revoke", at: now),
            try key.proof(Self.url, at: now - 600), try key.proof(Self.url, at: now + 600),
            try key.proof(Self.url, at: now, nonce: "made-up"),
        ] {
            let reply = try await ready.redeem(proof)
            #expect(reply.status == .badRequest)
            #expect(["invalid_dpop_proof", "use_dpop_nonce"].contains(try reply.tokenError.error))
        }
        let twice = try await ready.redeem(try key.proof(Self.url, at: now), try key.proof(Self.url, at: now))
        #expect(try twice.tokenError.error == "invalid_dpop_proof")
        #expect(try await ready.redeem(try key.proof(Self.url, at: now)).tokenResponse.tokenType == "DPoP")
    }

    // RFC 9449 §4.3: the window is 300 seconds in either direction.
    @Test(arguments: [-299.0, -10, 10, 299]) func `a proof within five minutes is accepted`(_ skew: Double) async throws
    {
        let ready = try await Ready()
        let proof = try TestProofKey().proof(Self.url, at: ready.test.clock.wall + skew)
        #expect(try await ready.redeem(proof).tokenResponse.tokenType == "DPoP")
    }

    // RFC 9449 §4.3 check 9
    @Test(arguments: [
        "https://id.example.com/oauth2/token?a=b#c", "https://ID.example.com:443/oauth2/token",
        "https://id.example.com/oauth2/token/",
    ])
    func `query, fragment, default port and last slash of htu are ignored`(_ uri: String) async throws {
        let ready = try await Ready()
        let proof = try TestProofKey().proof(uri, at: ready.test.clock.wall)
        #expect(try await ready.redeem(proof).tokenResponse.tokenType == "DPoP")
    }

    // RFC 9449 §11.1
    @Test func `a proof counts once`() async throws {
        let ready = try await Ready()
        let proof = try TestProofKey().proof(Self.url, at: ready.test.clock.wall)
        let other = Attempt(ready.test)
        let form = other.exchange(try await other.authorize().code)
        #expect(try await ready.redeem(proof).tokenResponse.tokenType == "DPoP")
        let name = try #require(HTTPField.Name("DPoP"))
        let replayed = await ready.test.redeem(form, fields: [name: proof])
        #expect(replayed.status == .badRequest)
        #expect(try replayed.tokenError.error == "invalid_dpop_proof")
        #expect(try replayed.tokenError.errorDescription?.contains("used before") == true)
    }

    @Test func `a proof of a refused request was not used`() async throws {
        let ready = try await Ready()
        let proof = try TestProofKey().proof(Self.url, at: ready.test.clock.wall)
        let name = try #require(HTTPField.Name("DPoP"))
        let refused = await ready.test.redeem(ready.form.setting("code", to: "unknown"), fields: [name: proof])
        #expect(try refused.tokenError.error == "invalid_grant")
        #expect(try await ready.redeem(proof).tokenResponse.tokenType == "DPoP")
    }

    // RFC 9449 §8
    @Test func `a required nonce is demanded and supplied`() async throws {
        let ready = try await Ready { $0.requiresProofNonce = true }
        let key = try TestProofKey()
        let now = ready.test.clock.wall
        let asked = try await ready.redeem(try key.proof(Self.url, at: now))
        #expect(asked.status == .badRequest)
        #expect(try asked.tokenError.error == "use_dpop_nonce")
        let nonce = try #require(asked.proofNonce)
        let reply = try await ready.redeem(try key.proof(Self.url, at: now, nonce: nonce))
        #expect(try reply.tokenResponse.tokenType == "DPoP")
        #expect(reply.proofNonce != nil)
    }

    // RFC 9449 §8: a nonce that is sent must be good, even if none is required.
    @Test func `an expired or forged nonce is refused`() async throws {
        let ready = try await Ready()
        let key = try TestProofKey()
        let first = try await ready.redeem(try key.proof(Self.url, at: ready.test.clock.wall, nonce: "made-up"))
        #expect(try first.tokenError.error == "use_dpop_nonce")
        let nonce = try #require(first.proofNonce)
        ready.test.clock.advance(by: 30)
        try await ready.expectRefused(
            try key.proof(Self.url, at: ready.test.clock.wall, nonce: String(nonce.reversed())), "use_dpop_nonce")
        ready.test.clock.advance(by: 331)
        let attempt = Attempt(ready.test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let name = try #require(HTTPField.Name("DPoP"))
        let late = await ready.test.redeem(
            form, fields: [name: try key.proof(Self.url, at: ready.test.clock.wall, nonce: nonce)])
        #expect(try late.tokenError.error == "use_dpop_nonce")
    }

    @Test func `scripts of a registered origin can send proofs and read the nonce`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Gallery", type: .singlePage, redirectURIs: ["https://gallery.example/cb"],
            origins: ["https://gallery.example"])
        let attempt = Attempt(test, by: client, at: "https://gallery.example/cb")
        let fields = try test.proving(try TestProofKey(), fields: [.origin: "https://gallery.example"])
        let reply = await test.redeem(attempt.exchange(try await attempt.authorize().code), fields: fields)
        #expect(reply.fields[.accessControlExposeHeaders]?.contains("DPoP-Nonce") == true)
        #expect(reply.proofNonce != nil)
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `a proof of each algorithm in the metadata is accepted`(_ algorithm: SigningAlgorithm) async throws {
        let ready = try await Ready()
        let proof = try TestProofKey(algorithm).proof(Self.url, at: ready.test.clock.wall)
        #expect(try await ready.redeem(proof).tokenResponse.tokenType == "DPoP")
        let metadata = await ready.test.send(.get, to: .metadata)
        #expect(try metadata.text.contains(#""dpop_signing_alg_values_supported":["ES256","RS256","Ed25519","EdDSA"]"#))
    }
}
