import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Servers and clients with unusual settings.
@Suite(.timeLimit(.minutes(10)))
struct ServerKindsTests {
    @Test func `a first-party client gets its code without consent`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--first-party"])
            try await site.serving {
                let request = ClientAuthorizationRequest(site, clientID)
                var browser = UserAgent()
                let proceed = try await Account.alice.signIn(request.url, in: &browser)
                #expect(proceed.status == 200)
                #expect(try await request.redeem(try proceed.code).status == 200)

                // A signed-in user confirms, because any program on the device can receive the response
                // (RFC 8252 §8.6).
                let page = try await browser.open(request.url)
                #expect(page.heading == "Continue to Lightbox?")
                let again = try await browser.submit(try page.form(withButton: "allow"), ["decision": "allow"])
                #expect(try await request.redeem(try again.code).status == 200)
                let silent = try await browser.send(.get, request.url + "&prompt=none")
                #expect(try silent.answer.single("error") == "interaction_required")
            }
        }
    }

    // An issuer with a path publishes its metadata at three URLs.
    @Test func `with a path in the issuer the metadata is the same at three URLs, and users sign in`() async throws {
        try await Site.run(path: "/tenant1") { site, clientID in
            let origin = site.issuer.dropLast("/tenant1".count)
            var agent = UserAgent()
            var documents: Set<String> = []
            for path in [
                "/.well-known/oauth-authorization-server/tenant1", "/.well-known/openid-configuration/tenant1",
                "/tenant1/.well-known/openid-configuration",
            ] {
                let answer = try await agent.open(origin + path)
                #expect(answer.status == 200)
                #expect(answer.header("content-type") == "application/json")
                documents.insert(answer.body)
            }
            #expect(documents.count == 1)
            let text = try #require(documents.first)
            let metadata = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(metadata["issuer"] as? String == site.issuer)
            #expect(metadata["authorization_endpoint"] as? String == site.issuer + "/oauth2/authorize")
            #expect(metadata["token_endpoint"] as? String == site.issuer + "/oauth2/token")
            #expect(metadata["response_types_supported"] as? [String] == ["code"])
            #expect(metadata["code_challenge_methods_supported"] as? [String] == ["S256"])
            #expect(metadata.values.allSatisfy { ($0 as? [Any])?.isEmpty != true })

            for path in [
                "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/oauth2/token",
            ] {
                #expect(try await agent.open(origin + path).status == 404)
            }

            let device = try Device(in: site.folder)
            #expect(try await device.signIn(.alice, at: site, clientID: clientID).status == 0)
            #expect(try await device.counterfoil("token").status == 0)
        }
    }

    // Codes, sessions and pages stay valid after a restart.
    @Test func `a restarted server knows earlier codes, sessions and pages`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let (proceed, page) = try await site.serving {
                let consent = try await Account.alice.signIn(request.url, in: &browser)
                let proceed = try await browser.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
                return (proceed, try await browser.open(request.url))
            }
            try await site.serving {
                let tokens = try await request.redeem(try proceed.code)
                #expect(tokens.status == 200)
                #expect(try await request.redeem(try proceed.code).status == 400)
                let again = try await browser.submit(try page.form(withButton: "allow"), ["decision": "allow"])
                #expect(try await request.redeem(try again.code).status == 200)
            }
        }
    }

    @Test func `a login succeeds although the server is restarted during it`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            let device = try Device(in: site.folder)
            var browser = UserAgent()
            let (login, proceed) = try await site.serving {
                let login = try device.beginLogin(site, clientID: clientID)
                let consent = try await Account.alice.signIn(try await device.openedAddress(), in: &browser)
                return (login, try await browser.submit(try consent.form(withButton: "allow"), ["decision": "allow"]))
            }
            try await login.whileRunning {
                try await site.serving {
                    let closing = try await browser.proceed(from: proceed)
                    #expect(closing.heading == "You can close this tab")
                    #expect(try await login.ended().status == 0)
                }
            }
        }
    }
}
