import TestSupport
import Testing

/// Administration while the server runs, and stopping a server.
@Suite(.timeLimit(.minutes(10)))
struct AdministrationTests {
    @Test func `a running server sees changes by commands at its next request`() async throws {
        try await Site.make { site in
            try await site.serving {
                try await site.addScope("photos.read", "See your photos and albums")
                let clientID = try await site.registerClient()
                try await site.add(.alice)
                let request = ClientAuthorizationRequest(site, clientID)
                var browser = UserAgent()
                let consent = try await Account.alice.signIn(request.url, in: &browser)
                let proceed = try await browser.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
                #expect(try await request.redeem(try proceed.code).status == 200)
            }
        }
    }

    @Test func `an operator stops the server with SIGTERM, and it exits without an error`() async throws {
        try await Site.make { site in
            let server = try await site.start()
            let ended = await server.stop()
            #expect(ended?.status == 0)
            #expect(ended?.errors.contains("rror") == false)
        }
    }
}
