import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Errors of a request from an unverified client wait for the user.
///
/// Otherwise every developer could use the server as an open redirector.
struct RefusedConsentTests {
    private static func client(
        _ test: TestServer, at address: String, isVouchedFor: Bool = false, isFirstParty: Bool = false
    ) async throws -> RegisteredClient {
        try await test.register(
            "Darkroom", redirectURIs: [address],
            policy: ClientPolicy(isFirstParty: isFirstParty, isVouchedFor: isVouchedFor, requiresState: false))
    }

    // RFC 9700 §4.11.2
    @Test(arguments: [
        ("scope", "nonsense"), ("response_type", "token"), ("code_challenge", nil),
    ])
    func `an invalid request of an unverified client shows a page with a button`(name: String, value: String?)
        async throws
    {
        let test = try await TestServer()
        let address = "https://phish.example/cb"
        let attempt = Attempt(test, by: try await Self.client(test, at: address), at: address).with(name, value)
        for request in [attempt, attempt.with("prompt", "none")] {
            let reply = try await request.firstReply()
            #expect(reply.status == .badRequest)
            #expect(reply.location == nil)
            let page = try reply.goOnPage
            #expect(page.kind == .refused)
            #expect(page.host == "phish.example")
            #expect(page.destination.hasPrefix(address + "?error="))
            let html = try reply.html()
            #expect(!html.contains("http-equiv"))
            #expect(!html.contains("autofocus"))
            #expect(html.contains("<b><bdi>phish.example</bdi></b>"))
            #expect(html.contains("href=\"https://phish.example/cb?error="))
        }
        #expect(test.log.lines.contains { $0.contains("400") })
    }

    // RFC 9700 §4.11.2: no person has registered the client.
    @Test func `an invalid request of a client with a document shows a page with a button`() async throws {
        let address = "https://apps.viewer.co.uk/callback"
        let viewer = try await DocumentClient(redirectURIs: [address])
        let reply = try await viewer.attempt(at: address).with("response_type", "token").firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        let page = try reply.goOnPage
        #expect(page.kind == .refused)
        #expect(page.host == "apps.viewer.co.uk")
        #expect(page.destination.hasPrefix(address + "?error=unsupported_response_type"))
    }

    // Also if the request became invalid while a page was open.
    @Test func `a request that became invalid on a page waits for the user too`() async throws {
        let test = try await TestServer()
        let address = "https://phish.example/cb"
        let client = try await Self.client(test, at: address)
        var browser = test.browser()
        let first = try await browser.open(Attempt(test, by: client, at: address).url)
        let nothing = Scope()
        try await test.change(client) { $0.scope = nothing }
        let reply = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        #expect(reply.status == .badRequest)
        #expect(try reply.goOnPage.host == "phish.example")
    }

    // RFC 6749 §4.1.2.1: verified clients, and redirect URIs on the device itself, get the error immediately.
    @Test(arguments: [
        ("https://app.example/cb", "https://app.example/cb", true, false),
        ("https://app.example/cb", "https://app.example/cb", false, true),
        ("http://127.0.0.1/cb", "http://127.0.0.1:4000/cb", false, false),
        ("com.example.app:/cb", "com.example.app:/cb", false, false),
    ])
    func `other clients get the error immediately`(
        registered: String, sent: String, isVouchedFor: Bool, isFirstParty: Bool
    ) async throws {
        let test = try await TestServer()
        let client = try await Self.client(
            test, at: registered, isVouchedFor: isVouchedFor, isFirstParty: isFirstParty)
        let reply = try await Attempt(test, by: client, at: sent, for: "nonsense").firstReply()
        #expect(reply.status == .seeOther)
        #expect(try reply.redirectedError.code == .invalidScope)
    }

    // RFC 9700 §4.11.2: a request with prompt=none that needs a page can redirect users just
    // like an invalid one, with or without a session.
    @Test func `a valid request of an unverified client without interaction waits for the user`() async throws {
        let test = try await TestServer()
        let address = "https://phish.example/cb"
        let attempt = Attempt(test, by: try await Self.client(test, at: address), at: address)
        let silent = attempt.with("prompt", "none")
        let unknown = try await silent.firstReply()
        var (browser, consent) = try await attempt.afterSignIn()
        _ = try consent.consentPage
        let known = try await browser.open(silent.url)
        for (reply, error) in [(unknown, "login_required"), (known, "consent_required")] {
            #expect(reply.status == .badRequest)
            #expect(reply.location == nil)
            let page = try reply.goOnPage
            #expect(page.kind == .refused)
            #expect(page.host == "phish.example")
            #expect(page.destination.hasPrefix(address + "?error=\(error)&"))
            #expect(try !reply.html().contains("http-equiv"))
        }
    }

    // OpenID Connect Core §3.1.2.6: verified clients, and redirect URIs on the device itself, get the error
    // immediately.
    @Test(arguments: [
        ("https://app.example/cb", "https://app.example/cb", true, false),
        ("https://app.example/cb", "https://app.example/cb", false, true),
        ("http://127.0.0.1/cb", "http://127.0.0.1:4000/cb", false, false),
        ("com.example.app:/cb", "com.example.app:/cb", false, false),
    ])
    func `other clients get the errors of prompt=none immediately`(
        registered: String, sent: String, isVouchedFor: Bool, isFirstParty: Bool
    ) async throws {
        let test = try await TestServer()
        let client = try await Self.client(
            test, at: registered, isVouchedFor: isVouchedFor, isFirstParty: isFirstParty)
        let reply = try await Attempt(test, by: client, at: sent).with("prompt", "none").firstReply()
        #expect(reply.status == .seeOther)
        #expect(try reply.redirectedError.code == .loginRequired)
    }

    // A user who presses a button has made a choice, and is not asked a second time.
    @Test func `a denial is sent to an unverified client without another page`() async throws {
        let test = try await TestServer()
        let address = "https://phish.example/cb"
        var (browser, reply) = try await Attempt(test, by: try await Self.client(test, at: address), at: address)
            .afterSignIn()
        reply = try await browser.decide(.deny, on: reply)
        #expect(reply.status == .ok)
        #expect(try reply.goOnPage.kind == .denied)
        #expect(try reply.goOnPage.host == nil)
        #expect(try reply.html().contains("http-equiv=\"refresh\""))
    }
}
