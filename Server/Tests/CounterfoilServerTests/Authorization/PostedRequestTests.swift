@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// An authorization request by POST (OpenID Connect Core §3.1.2.1).
///
/// A browser leaves the session cookie out of a form that another site posts (`SameSite=Lax`), and sends it with the
/// GET request after a redirect.
struct PostedRequestTests {
    private static let address = "https://app.example/cb"

    /// Posts a request without cookies, and follows redirects with them.
    private static func postFromElsewhere(
        _ form: FormParameters, in browser: inout ScriptedUserAgent
    ) async throws -> Reply {
        let cookies = browser.cookies
        browser.cookies = [:]
        let reply = try await browser.send(
            .post, to: "/oauth2/authorize", form: form, fields: [try .named("Sec-Fetch-Site"): "cross-site"])
        #expect(reply.cookies.isEmpty)
        browser.cookies = cookies
        #expect(reply.status == .seeOther)
        return try await browser.send(.get, to: try #require(reply.location))
    }

    @Test func `a request that another site posts finds the session`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let attempt = Attempt(test)
        let consent = try await Self.postFromElsewhere(attempt.request, in: &browser)
        #expect(try await test.redeem(attempt.exchange(browser.decide(.allow, on: consent).code)).status == .ok)
    }

    // The answer is that for the session of the browser.
    @Test(arguments: [(false, OAuthError.Code.consentRequired), (true, nil)])
    func `with prompt=none a posted request gets the same answer as by GET`(
        isFirstParty: Bool, error: OAuthError.Code?
    ) async throws {
        let test = try await TestServer()
        let client = try await test.register("Album", redirectURIs: [Self.address], isFirstParty: isFirstParty)
        let attempt = Attempt(test, by: client, at: Self.address).with("prompt", "none")
        var browser = test.browser()
        let visitor = try await Self.postFromElsewhere(attempt.request, in: &browser)
        #expect(try visitor.redirectedError.code == .loginRequired)
        try await browser.signInToConsole(username: "alice")
        let reply = try await Self.postFromElsewhere(attempt.request, in: &browser)
        if let error {
            #expect(try reply.redirectedError.code == error)
        } else {
            #expect(try reply.code.exposed.utf8.count == 43)
        }
    }

    // A pushed request is opened twice, and answered once.
    @Test func `a pushed request can be posted from another site`() async throws {
        let pushed = try await PushedAttempt(Attempt(try await TestServer()))
        var browser = pushed.test.browser()
        try await browser.signInToConsole(username: "alice")
        let consent = try await Self.postFromElsewhere(pushed.query, in: &browser)
        #expect(try await browser.decide(.allow, on: consent).code.exposed.utf8.count == 43)
    }

    // A request that no page can carry is not redirected; parameters of the query and of the form count.
    @Test func `a posted request is checked before it is redirected`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let long = Attempt(test).adding("padding", String(repeating: "!", count: 10_000))
        #expect(try await browser.send(.post, to: "/oauth2/authorize", form: long.request).problemPage.status == 400)
        let unknown = try await browser.send(
            .post, to: "/oauth2/authorize", form: Attempt(test).with("client_id", "app_unknown").request)
        #expect(try unknown.problemPage.status == 400)
        let mixed = try await browser.submit(
            Attempt(test).with("client_id", nil).request, to: "/oauth2/authorize?client_id=\(test.lightbox.id)")
        #expect(try mixed.signInPage.clientName?.description == "Lightbox")
    }
}
