import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The redirect after a sign-out: a request that any page can send redirects no user to an unverified https URI.
struct LogoutRedirectTests {
    private let test: TestServer
    private static let evil = "https://evil.example/"

    init() async throws { test = try await TestServer() }

    /// A client of a developer, with an ID token that the developer got for their own session.
    private func hint(_ address: String = evil, isVouchedFor: Bool = false) async throws -> FormParameters {
        _ = try await test.addUser("mallory")
        var client = try await test.register("Mallory", redirectURIs: ["http://127.0.0.1/callback"])
        client.postLogoutRedirectURIs = [try RedirectURI(address)]
        client.policy.isVouchedFor = isVouchedFor
        #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
        let attempt = Attempt(test, by: client, for: "openid")
        var browser = test.browser()
        let code = try await browser.authorize(attempt.url, username: "mallory", password: TestServer.password).code
        let token = try #require(try await test.redeem(attempt.exchange(code)).tokenResponse.idToken)
        return FormParameters(["id_token_hint": token.exposed, "post_logout_redirect_uri": address])
    }

    private static let url = "/oauth2/logout?"

    private func ask(_ form: FormParameters, in browser: inout ScriptedUserAgent) async throws -> Reply {
        let page = try await browser.send(.post, to: "/oauth2/logout", form: form).signOutPage
        return try await browser.send(
            .post, to: page.action, form: FormParameters(["request": page.request, "decision": "ask"]))
    }

    // RFC 9700 §4.11.2: an ID token of the developer's own session redirects no other user.
    @Test func `without a session no user is redirected to an unverified https URI automatically`() async throws {
        let hint = try await hint()
        var browser = test.browser()
        let reply = try await browser.open(Self.url + hint.encoded)
        #expect(reply.status == .ok && reply.location == nil)
        for page in [try reply.signedOutPage, try await ask(hint, in: &browser).signedOutPage] {
            #expect(page.destination == Self.evil)
            #expect(!page.continuesAutomatically)
            #expect(page.host == "evil.example")
        }
        let html = try reply.html()
        #expect(html.contains("evil.example"))
        #expect(!html.contains("http-equiv=\"refresh\""))
    }

    @Test func `no user is redirected to a suspended client`() async throws {
        let hint = try await hint(isVouchedFor: true)
        let client = try #require(try await test.store.clients().first { $0.presentation.name == "Mallory" })
        let decision = ClientDecision.suspend(reason: "Spam")
        #expect(try await test.store.decide(decision, on: client.id, at: test.clock.now, recording: []) == .decided)
        var browser = test.browser()
        let reply = try await browser.open(Self.url + hint.encoded)
        #expect(reply.status == .ok && reply.location == nil)
        #expect(try reply.signedOutPage.destination == nil)
        #expect(try !reply.html().contains("href=\"\(Self.evil)"))
    }

    // The confirmation is about the session, and not about the redirect.
    @Test func `after confirming another session no user is redirected to an unverified https URI`() async throws {
        let hint = try await hint()
        for posts in [false, true] {
            var browser = test.browser()
            try await browser.signInToConsole(username: "alice")
            let question =
                posts
                ? try await ask(hint, in: &browser).signOutPage
                : try await browser.open(Self.url + hint.encoded).signOutPage
            #expect(question.userDisplayName == "Alice")
            let done = try await browser.submit(
                FormParameters(["request": question.request, "ticket": question.ticket, "decision": "sign-out"]),
                to: question.action
            ).signedOutPage
            #expect(done.destination == Self.evil)
            #expect(!done.continuesAutomatically)
        }
    }

    // OpenID Connect RP-Initiated Logout §3: a client that means this very session gets the user back.
    @Test func `with the session of the hint the user is redirected back`() async throws {
        _ = try await hint()
        let id = try #require(ClientIdentifier("app_mallory"))
        let client = try #require(try await test.store.client(id))
        #expect(!client.policy.isVouchedFor)
        let attempt = Attempt(test, by: client, for: "openid")
        for posts in [false, true] {
            var browser = test.browser()
            let tokens = try await attempt.tokens(in: &browser)
            let form = FormParameters([
                "id_token_hint": try #require(tokens.idToken).exposed, "post_logout_redirect_uri": Self.evil,
            ])
            if posts {
                // A browser omits the cookie from a form of another site, and the server's page sends it.
                let cookies = browser.cookies
                browser.cookies = [:]
                let page = try await browser.send(.post, to: "/oauth2/logout", form: form).signOutPage
                browser.cookies = cookies
                let sent = FormParameters(["request": page.request, "decision": "ask"])
                #expect(try await browser.send(.post, to: page.action, form: sent).signedOutPage.continuesAutomatically)
            } else {
                #expect(try await browser.open(Self.url + form.encoded).location == Self.evil)
            }
        }
    }

    // A verified publisher, a loopback URI and a private-use scheme cannot redirect users to another site.
    @Test(arguments: [
        (Self.evil, true), ("http://127.0.0.1/bye", false), ("com.example.mallory:/bye", false),
    ])
    func `with a hint the user is redirected where it is safe`(address: String, isVouchedFor: Bool) async throws {
        let hint = try await hint(address, isVouchedFor: isVouchedFor)
        var browser = test.browser()
        #expect(try await browser.open(Self.url + hint.encoded).location == address)
        #expect(try await ask(hint, in: &browser).signedOutPage.continuesAutomatically)
        let unnamed = hint.setting("id_token_hint", to: nil).adding("client_id", "app_mallory")
        let page = try await browser.open(Self.url + unnamed.encoded).signedOutPage
        #expect(!page.continuesAutomatically, "a request that shows nothing leads nowhere by itself")
    }
}
