import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Pushed authorization requests of this package's client at the real server.
@Suite(.timeLimit(.minutes(10)))
struct PushedRequestTests {
    // RFC 9126 §4
    @Test func `the client signs in where pushed requests are required, and a request by query is refused`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            try await site.start(options: ["--require-pushed-requests", "--require-dpop-nonce"]).whileRunning {
                let device = try Device(in: site.folder)
                #expect(try await device.signIn(.alice, at: site, clientID: clientID).status == 0)
                #expect(try await device.counterfoil("token").status == 0)

                var browser = UserAgent()
                let refused = try await browser.send(.get, ClientAuthorizationRequest(site, clientID).url)
                #expect(try refused.answer.single("error") == "invalid_request")
                #expect(try refused.answer.single("error_description")?.contains("/oauth2/par") == true)
            }
        }
    }

    // RFC 9126 §2.2: the response over HTTP.
    @Test func `a pushed request is answered with 201 and no-store`() async throws {
        try await Site.run { site, clientID in
            var agent = UserAgent()
            let request = ClientAuthorizationRequest(site, clientID)
            let pushed = try await agent.send(.post, site.issuer + "/oauth2/par", form: request.parameters)
            #expect(pushed.status == 201)
            #expect(pushed.header("cache-control") == "no-store")
            let members = try #require(
                try JSONSerialization.jsonObject(with: Data(pushed.body.utf8)) as? [String: Any])
            let query = FormParameters([
                "client_id": clientID, "request_uri": try #require(members["request_uri"] as? String),
            ])
            var browser = UserAgent()
            let consent = try await Account.alice.signIn(
                "\(site.issuer)/oauth2/authorize?\(query.encoded)", in: &browser)
            let proceed = try await browser.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
            #expect(try await request.redeem(try proceed.code).status == 200)
        }
    }
}
