import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A server that is killed during a revocation, and the tokens that are valid afterwards.
@Suite(.timeLimit(.minutes(10)))
struct KilledRevocationTests {
    private struct Tokens: Decodable {
        let access_token: String
        let refresh_token: String
    }

    private struct Event: Decodable {
        let outcome: String
    }

    // A revocation that was confirmed or logged is permanent, and no other token is revoked.
    @Test func `a server killed during a revocation restores no grant and revokes no other`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--refresh-tokens", "always"])
            var server = try await site.start(options: ["--log-level", "error"])
            var browser = UserAgent()
            // Another device of the same user, which stays signed in.
            var other = try await signIn(with: &browser, clientID, at: site).refresh_token
            var chance = SeededGenerator.ofThisRun()
            for _ in 0..<6 {
                let tokens = try await signIn(with: &browser, clientID, at: site)
                let before = try await revocations(at: site)
                let dying = server
                async let answer = try? revoke(tokens.refresh_token, of: clientID, at: site)
                try await Task.sleep(for: .microseconds(Int.random(in: 0...6000, using: &chance)))
                try? ServerProcess(of: site).kill()
                let isAnswered = await answer?.status == 200
                await dying.stop()
                let isRecorded = try await revocations(at: site) > before
                server = try await site.start(options: ["--log-level", "error"])

                let again = try await refresh(tokens.refresh_token, of: clientID, at: site)
                if isAnswered || isRecorded {
                    #expect(again.status == 400, "answered: \(isAnswered), noted: \(isRecorded)")
                } else {
                    #expect([200, 400].contains(again.status))
                }
                // A repeated revocation succeeds, whatever happened to the first one.
                #expect(try await revoke(tokens.refresh_token, of: clientID, at: site).status == 200)
                #expect(try await refresh(tokens.refresh_token, of: clientID, at: site).status == 400)
                let kept = try await refresh(other, of: clientID, at: site)
                #expect(kept.status == 200, "\(kept.body)")
                other = try JSONDecoder().decode(Tokens.self, from: Data(kept.body.utf8)).refresh_token
            }
            await server.stop()
        }
    }

    private func signIn(with browser: inout UserAgent, _ clientID: String, at site: Site) async throws -> Tokens {
        let request = ClientAuthorizationRequest(site, clientID)
        let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
        let answer = try await request.redeem(try page.code)
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONDecoder().decode(Tokens.self, from: Data(answer.body.utf8))
    }

    private func revoke(_ token: String, of clientID: String, at site: Site) async throws -> WebPage {
        var agent = UserAgent()
        return try await agent.send(
            .post, "\(site.issuer)/oauth2/revoke", form: FormParameters(["client_id": clientID, "token": token]))
    }

    private func refresh(_ token: String, of clientID: String, at site: Site) async throws -> WebPage {
        var agent = UserAgent()
        return try await agent.send(
            .post, "\(site.issuer)/oauth2/token",
            form: FormParameters(["grant_type": "refresh_token", "client_id": clientID, "refresh_token": token]))
    }

    /// Returns the number of revocations in the audit log.
    private func revocations(at site: Site) async throws -> Int {
        let ended = try await site.administer(["audit", "--kind", "revocation", "--limit", "1000", "--json"])
        return try JSONDecoder().decode([Event].self, from: Data(ended.output.utf8)).count
    }
}
