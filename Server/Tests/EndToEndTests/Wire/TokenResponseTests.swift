import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// The token responses as they are sent.
@Suite(.timeLimit(.minutes(5)))
struct TokenResponseTests {
    // RFC 6749 §5.1
    @Test func `a token response is JSON that no cache stores`() async throws {
        try await Site.run { site, clientID in
            var browser = UserAgent()
            let request = ClientAuthorizationRequest(site, clientID)
            let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
            let response = try await request.redeem(try page.code)
            #expect(response.status == 200)
            #expect(response.header("content-type") == "application/json")
            #expect(response.header("cache-control") == "no-store")
            let members = try JSONDecoder().decode(Members.self, from: Data(response.body.utf8))
            #expect(members.token_type == "Bearer")
            #expect(members.expires_in == 3600)
            #expect(AccessToken(members.access_token) != nil)
        }
    }

    private struct Members: Decodable {
        let access_token, token_type: String
        let expires_in: Int
    }
}
