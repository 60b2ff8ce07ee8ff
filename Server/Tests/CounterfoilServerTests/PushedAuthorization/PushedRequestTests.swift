import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Authorization requests that a browser opens with a `request_uri` (RFC 9126 §4).
struct PushedRequestTests {
    private static func pushed(_ change: (Attempt) -> Attempt = { $0 }) async throws -> PushedAttempt {
        try await PushedAttempt(change(Attempt(try await TestServer())))
    }

    // The tokens are those of the pushed request.
    @Test func `a pushed request is authorized, and the pages carry only its reference`() async throws {
        let pushed = try await Self.pushed()
        var browser = pushed.test.browser()
        let signIn = try await browser.open(pushed.url)
        #expect(try signIn.signInPage.request == pushed.query.encoded)
        let consent = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password)
        #expect(try consent.consentPage.request == pushed.query.encoded)
        #expect(try consent.consentPage.permissions.map(\.scope) == ["photos.read"])
        let reply = try await browser.decide(.allow, on: consent)
        #expect(try reply.destination.hasPrefix("http://127.0.0.1:51004/callback?code="))
        #expect(try reply.authorizationResponse.state?.exposed == "af0ifjsldkj")
        let tokens = try await pushed.test.redeem(pushed.attempt.exchange(try reply.code)).tokenResponse
        #expect(tokens.scope?.description == "photos.read")
    }

    // RFC 9126 §4, RFC 9101 §5: only the pushed parameters count.
    @Test(arguments: [
        ("scope", "photos.write"), ("redirect_uri", "https://evil.example/cb"), ("state", "outside"),
        ("prompt", "none"), ("response_type", "token"), ("code_challenge", "x"), ("request", "x"),
        ("response_mode", "form_post"), ("sign_in_ticket", "x"),
    ])
    func `a parameter beside the reference is ignored`(name: String, value: String) async throws {
        let pushed = try await Self.pushed()
        var outside = pushed
        outside.query = pushed.query.adding(name, value).adding(name, value)
        let reply = try await outside.authorize()
        #expect(try reply.destination.hasPrefix("http://127.0.0.1:51004/callback?code="))
        #expect(try reply.authorizationResponse.state?.exposed == "af0ifjsldkj")
        #expect(await pushed.test.redeem(pushed.attempt.exchange(try reply.code)).status == .ok)
    }

    // A request yields one response.
    @Test func `a completed request cannot be opened again`() async throws {
        let pushed = try await Self.pushed()
        var browser = pushed.test.browser()
        _ = try await pushed.authorize(with: &browser).code
        try pushed.expectGone(try await browser.open(pushed.url))
        try pushed.expectGone(try await pushed.firstReply())
    }

    // The request stays usable for its own client.
    @Test func `another client cannot open the request`() async throws {
        let pushed = try await Self.pushed()
        let other = try await pushed.test.register("Darkroom", redirectURIs: ["http://127.0.0.1/callback"])
        try pushed.expectGone(try await pushed.with("client_id", other.id.rawValue).firstReply())
        try pushed.expectGone(try await pushed.with("client_id", "app_unknown").firstReply())
        #expect(try await pushed.with("client_id", nil).firstReply().status == .badRequest)
        _ = try await pushed.authorize().code
    }

    // Nothing is fetched.
    @Test(arguments: ["urn:ietf:params:oauth:request_uri:x", PushedRequestURI().rawValue, PushedRequestURI.prefix])
    func `an unknown reference is refused on a page`(reference: String) async throws {
        let pushed = try await Self.pushed()
        try pushed.expectGone(try await pushed.with("request_uri", reference).firstReply())
    }

    // RFC 9126 §2.2: the exact second.
    @Test func `a request that no browser opened expires after 60 seconds`() async throws {
        for (seconds, isOpen) in [(59.0, true), (60.0, false)] {
            let pushed = try await Self.pushed()
            pushed.test.clock.advance(by: seconds)
            let reply = try await pushed.firstReply()
            if isOpen { _ = try reply.signInPage } else { try pushed.expectGone(reply) }
        }
    }

    // A user may load the page again, and take half an hour to sign in.
    @Test func `an opened request lasts as long as its page`() async throws {
        let pushed = try await Self.pushed()
        var browser = pushed.test.browser()
        for _ in 0..<2 { _ = try await browser.open(pushed.url).signInPage }
        pushed.test.clock.advance(by: 29 * 60)
        let page = try await browser.open(pushed.url)
        let consent = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        // Opening the request again does not extend its lifetime.
        pushed.test.clock.advance(by: 60)
        try pushed.expectGone(try await browser.decide(.allow, on: consent))
        try pushed.expectGone(try await browser.open(pushed.url))
    }

    // Two tabs answer the same request.
    @Test func `concurrent answers to one request give exactly one code`() async throws {
        let pushed = try await Self.pushed()
        var signedIn = pushed.test.browser()
        _ = try await signedIn.signInToConsole(username: "alice")
        let browser = signedIn
        let counts = try await outcomes(of: 8) { _ in
            var tab = browser
            let consent = try await tab.open(pushed.url)
            guard consent.page is ConsentPage else { return false }
            let reply = try await tab.decide(.allow, on: consent)
            return (try? reply.code) != nil
        }
        #expect(counts[true] == 1)
    }

    // An error response completes the request, too (RFC 9126 §2.2: one-time use).
    @Test func `a denied request is used up, and a tab that still shows it gets no second answer`() async throws {
        let pushed = try await Self.pushed()
        var browser = pushed.test.browser()
        _ = try await browser.signInToConsole(username: "alice")
        let pages = [try await browser.open(pushed.url), try await browser.open(pushed.url)]
        let denied = try await browser.decide(.deny, on: pages[0])
        #expect(try denied.redirectedError.code == .accessDenied)
        for decision in [ScriptedUserAgent.Decision.allow, .deny] {
            try pushed.expectGone(try await browser.decide(decision, on: pages[1]))
        }
    }

    @Test func `an error response without a page uses the request up`() async throws {
        let pushed = try await Self.pushed { $0.with("prompt", "none") }
        #expect(try await pushed.firstReply().redirectedError.code == .loginRequired)
        try pushed.expectGone(try await pushed.firstReply())
    }

    @Test func `prompt=none in a frame works with a pushed request`() async throws {
        let test = try await TestServer()
        var policy = ClientPolicy.standard(for: .singlePage)
        policy.isFirstParty = true
        policy.isVouchedFor = true
        policy.isClaimedHTTPSVerified = true
        let client = try await test.register(
            "Album", type: .singlePage, redirectURIs: ["https://app.example/cb"], policy: policy)
        let attempt = Attempt(test, by: client, at: "https://app.example/cb").with("prompt", "none")
        var browser = test.browser()
        for isSignedIn in [false, true] {
            let pushed = try await PushedAttempt(attempt)
            let reply = try await browser.send(
                .get, to: pushed.url, fields: [try .named("Sec-Fetch-Dest"): "iframe"])
            #expect(reply.status == .seeOther)
            if isSignedIn {
                _ = try reply.code
            } else {
                #expect(try reply.redirectedError.code == .loginRequired)
                _ = try await browser.signInToConsole(username: "alice")
            }
        }
    }

    @Test func `the request can be posted, and the user can switch the account`() async throws {
        let pushed = try await Self.pushed()
        var browser = pushed.test.browser()
        let signIn = try await browser.submit(pushed.query, to: "/oauth2/authorize")
        let consent = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password)
        let again = try await browser.decide(.switchAccount, on: consent)
        #expect(try again.signInPage.request == pushed.query.encoded)
        let other = try await pushed.test.addUser("bob")
        #expect(other.username.rawValue == "bob")
        let asked = try await browser.signIn(on: again, username: "bob", password: TestServer.password)
        _ = try await browser.decide(.allow, on: asked).code
    }

    // The page offers the same request in the browser.
    @Test func `a web view offers the pushed request in the browser`() async throws {
        let pushed = try await Self.pushed()
        var webView = pushed.test.browser()
        webView.fields = [
            .userAgent:
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
        ]
        let page = try await webView.open(pushed.url).webViewPage
        #expect(page.openInBrowserLink.address == pushed.url)
        _ = try await pushed.authorize().code
    }

    // RFC 9126 §4: the authorization endpoint repeats the checks.
    @Test func `a request whose client has changed since is checked again`() async throws {
        let pushed = try await Self.pushed()
        try await pushed.test.change(pushed.attempt.client) { $0.scope = Scope([.openID]) }
        #expect(try await pushed.firstReply().redirectedError.code == .invalidScope)
        let moved = try await PushedAttempt(pushed.attempt.with("scope", "openid"))
        try await pushed.test.change(pushed.attempt.client) { $0.redirectURIs = [] }
        let reply = try await moved.firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
    }

    @Test func `a deleted client has no pushed requests`() async throws {
        let pushed = try await Self.pushed()
        #expect(try await pushed.test.store.removeClient(pushed.attempt.client.id))
        try pushed.expectGone(try await pushed.firstReply())
    }

    @Test func `a fault of the store does not use the request up`() async throws {
        let store = TestStore()
        let pushed = try await PushedAttempt(Attempt(try await TestServer(store: store)))
        store.fail(.openPushedRequest)
        #expect(try await pushed.firstReply().status == .serviceUnavailable)
        store.recover()
        store.fail(.recordConsent)
        var browser = pushed.test.browser()
        #expect(try await pushed.authorize(with: &browser).status == .serviceUnavailable)
        store.recover()
        _ = try await pushed.authorize(with: &browser).code
    }

    /// The setting that requires pushed requests.
    enum Requirement: CaseIterable, Sendable { case client, server }

    // RFC 9126 §4 and §5
    @Test(arguments: Requirement.allCases)
    func `a request in the query is refused where pushed requests are required`(requirement: Requirement) async throws {
        let test = try await TestServer { $0.requiresPushedRequests = requirement == .server }
        if requirement == .client {
            var policy = test.lightbox.policy
            policy.requiresPushedRequests = true
            try await test.setPolicy(policy, of: test.lightbox.id)
        }
        let error = try await Attempt(test).error()
        #expect(error.code == .invalidRequest)
        #expect(error.description?.contains("https://id.example.com/oauth2/par") == true)
        _ = try await PushedAttempt(Attempt(test)).authorize().code
        let members = try await test.send(.get, to: .metadata).members
        #expect(members["require_pushed_authorization_requests"] as? Bool == (requirement == .server))
        #expect(
            members["pushed_authorization_request_endpoint"] as? String == "https://id.example.com/oauth2/par")
    }
}
