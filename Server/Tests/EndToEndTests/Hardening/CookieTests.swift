import HTTPTypes
import TestSupport
import Testing

/// Cookie attributes and session lifetimes.
@Suite(.timeLimit(.minutes(10)))
struct CookieTests {
    @Test func `on loopback cookies are for this host only, and hidden from scripts`() async throws {
        try await Site.run { site, clientID in
            let (browserCookie, sessionCookie) = try await Self.cookies(
                of: ClientAuthorizationRequest(site, clientID).url)
            #expect(
                browserCookie.wholeMatch(of: /counterfoil-browser=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax/) != nil)
            #expect(
                sessionCookie.wholeMatch(of: /counterfoil-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax/) != nil)
        }
    }

    // With https, HSTS lasts two years. A reverse proxy terminates TLS, so the server receives plain
    // HTTP.
    @Test func `behind https cookies are bound to the host and to https`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            try await site.start(issuer: "https://id.example.com").whileRunning {
                let (browserCookie, sessionCookie) = try await Self.cookies(
                    of: ClientAuthorizationRequest(site, clientID).url)
                let attributes = "; Path=/; HttpOnly; SameSite=Lax; Secure"
                #expect(browserCookie.hasPrefix("__Host-counterfoil-browser="))
                #expect(browserCookie.hasSuffix(attributes))
                #expect(sessionCookie.hasPrefix("__Host-counterfoil-session="))
                #expect(sessionCookie.hasSuffix(attributes))

                var agent = UserAgent()
                let answer = try await agent.send(.get, site.origin + "/livez")
                #expect(answer.header("strict-transport-security")?.hasPrefix("max-age=63072000") == true)
            }
        }
    }

    @Test func `each sign-in starts a new session, and Not you? ends it`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            var cookies: Set<String> = []
            for _ in 0..<2 {
                let page = try await browser.open(request.url + "&prompt=login")
                let answer = try await browser.post(
                    try page.form(with: "password"), ["username": "alice", "password": Account.alice.password])
                cookies.formUnion(answer.newCookies.filter { $0.contains("-session=") })
            }
            #expect(cookies.count == 2)

            let stolen = browser
            let consent = try await browser.open(request.url)
            let signIn = try await browser.submit(try consent.form(withButton: "switch"), ["decision": "switch"])
            #expect(throws: Never.self) { try signIn.form(with: "password") }
            // The former cookie is no longer valid.
            var thief = stolen
            let page = try await thief.open(request.url)
            #expect(throws: Never.self) { try page.form(with: "password") }
        }
    }

    /// Returns the cookies that the sign-in page and the sign-in set.
    private static func cookies(of url: String) async throws -> (browser: String, session: String) {
        var browser = UserAgent()
        let page = try await browser.send(.get, url)
        try #require(page.newCookies.count == 1)
        let answer = try await browser.post(
            try page.form(with: "password"), ["username": "alice", "password": Account.alice.password])
        #expect(answer.status == 303)
        // The second cookie is the hint of an earlier sign-in.
        try #require(answer.newCookies.count == 2)
        return (page.newCookies[0], answer.newCookies[0])
    }
}
