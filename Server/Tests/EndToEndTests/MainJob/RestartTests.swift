import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A server that is killed, and the tokens that it issued before.
@Suite(.timeLimit(.minutes(10)))
struct RestartTests {
    private struct Tokens: Decodable {
        let access_token: String
        let refresh_token: String
    }

    // Whenever the server is killed during a refresh, the user stays signed in.
    @Test(arguments: StoreOfSite.allCases)
    func `a server that is killed between the steps of refreshes signs no user out`(
        on store: StoreOfSite
    ) async throws {
        try await store.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--refresh-tokens", "always"])
            var server = try await site.start(options: ["--log-level", "error"])
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
            let first = try tokens(try await request.redeem(try page.code))

            // The response is lost: the client has only the token that it sent.
            let lost = try tokens(try await refresh(first.refresh_token, of: clientID, at: site))
            server = try await restart(server, site)
            let again = try tokens(try await refresh(first.refresh_token, of: clientID, at: site))
            #expect(again.refresh_token == lost.refresh_token)

            // The server is killed during a refresh: whatever was recorded, the retry succeeds.
            var current = again.refresh_token
            var chance = SeededGenerator.ofThisRun()
            for _ in 0..<3 {
                let token = current
                async let attempt = try? refresh(token, of: clientID, at: site)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...8, using: &chance)))
                try ServerProcess(of: site).kill()
                _ = await attempt
                server = try await restart(server, site)
                current = try tokens(try await refresh(token, of: clientID, at: site)).refresh_token
            }
            #expect(try await refresh(current, of: clientID, at: site).status == 200)
            await server.stop()
        }
    }

    // The server stops right after it has sent the tokens.
    @Test(arguments: StoreOfSite.allCases)
    func `a server that was stopped has recorded which codes got their tokens`(on store: StoreOfSite) async throws {
        try await store.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--refresh-tokens", "always"])
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let former = try await site.start(options: ["--log-level", "error"])
            let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
            let issued = try tokens(try await request.redeem(try page.code))
            await former.stop()

            let server = try await site.start(options: ["--log-level", "error"])
            #expect(try await request.redeem(try page.code).status == 400)
            #expect(try await refresh(issued.refresh_token, of: clientID, at: site).status == 400)
            await server.stop()
        }
    }

    private func restart(_ server: RunningProgram, _ site: Site) async throws -> RunningProgram {
        try? ServerProcess(of: site).kill()
        await server.stop()
        return try await site.start(options: ["--log-level", "error"])
    }

    private func refresh(_ token: String, of clientID: String, at site: Site) async throws -> WebPage {
        var agent = UserAgent()
        return try await agent.send(
            .post, "\(site.issuer)/oauth2/token",
            form: FormParameters(["grant_type": "refresh_token", "client_id": clientID, "refresh_token": token]))
    }

    private func tokens(_ page: WebPage) throws -> Tokens {
        #expect(page.status == 200, "\(page.body)")
        return try JSONDecoder().decode(Tokens.self, from: Data(page.body.utf8))
    }
}
