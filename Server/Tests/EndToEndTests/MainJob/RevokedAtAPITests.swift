import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The sample API with introspection, and a user who withdraws consent.
@Suite(.timeLimit(.minutes(10)))
struct RevokedAtAPITests {
    private struct API: Decodable {
        let client_id: String
        let client_secret: String
    }

    private struct Tokens: Decodable {
        let access_token: String
    }

    // RFC 7662 §4
    @Test func `a revoked token is refused by an API with introspection, and accepted until it expires by another`()
        async throws
    {
        try await Site.run { site, clientID in
            let created = try await site.administer([
                "resource", "create", site.issuer, "--name", "Photo library", "--scope", "photos.read", "--json",
            ])
            let api = try JSONDecoder().decode(API.self, from: Data(created.output.utf8))
            let file = site.folder.path("api-secret")
            try Data((api.client_secret + "\n").utf8).write(to: URL(fileURLWithPath: file))
            let asking = [
                "--client-id", api.client_id, "--client-secret-file", file, "--introspection-lifetime", "0",
            ]
            var browser = UserAgent()
            let request = ClientAuthorizationRequest(site, clientID)
            let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
            let answer = try await request.redeem(try page.code)
            let token = try JSONDecoder().decode(Tokens.self, from: Data(answer.body.utf8)).access_token
            try await PhotoAPI.run(for: site, options: asking) { strict in
                try await PhotoAPI.run(for: site) { trusting in
                    #expect(try await photos(at: strict, with: token) == 200)
                    #expect(try await photos(at: trusting, with: token) == 200)
                    var client = UserAgent()
                    let revoked = try await client.send(
                        .post, "\(site.issuer)/oauth2/revoke",
                        form: FormParameters(["client_id": clientID, "token": token]))
                    #expect(revoked.status == 200)
                    #expect(try await photos(at: strict, with: token) == 401)
                    #expect(try await photos(at: trusting, with: token) == 200)
                    // The API does not know its new secret yet, and it must not discard a token because of
                    // that.
                    _ = try await site.administer(["resource", "secret", site.issuer])
                    #expect(try await photos(at: strict, with: token) == 503)
                }
            }
        }
    }

    private func photos(at api: String, with token: String) async throws -> Int {
        var agent = UserAgent()
        return try await agent.send(.get, "\(api)/photos", headers: ["authorization": "Bearer \(token)"]).status
    }
}
