import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Requests for a sign-in with a passkey by a user who is signed in (RFC 9470 §5, OpenID Connect Core §5.5.1.1).
struct StepUpTests {
    private static let passkey = "urn:counterfoil:acr:passkey"
    private static let password = "urn:counterfoil:acr:password"
    private static func essential(_ context: String) -> String {
        #"{"id_token":{"acr":{"essential":true,"value":"\#(context)"}}}"#
    }

    /// A way to ask for a passkey, and whether the client gets no weaker token.
    enum Wish: CaseIterable, CustomTestStringConvertible {
        case preferred, voluntaryClaim, required

        var testDescription: String { "\(self)" }

        func asks(_ test: TestServer, for context: String = StepUpTests.passkey) -> Attempt {
            switch self {
            case .preferred: Attempt(test, for: "openid").with("acr_values", context)
            case .voluntaryClaim:
                Attempt(test, for: "openid").with("claims", #"{"id_token":{"acr":{"values":["\#(context)"]}}}"#)
            case .required: Attempt(test, for: "openid").with("claims", StepUpTests.essential(context))
            }
        }
    }

    /// Signs alice in with the password, after she has added a passkey in another browser.
    private static func signedIn(withPasskey: Bool = true) async throws -> (TestServer, ScriptedUserAgent, TestPasskey)
    {
        let test = try await TestServer()
        var passkey = TestPasskey()
        if withPasskey {
            var other = test.browser()
            try await other.signInToConsole(username: "alice")
            try await other.add(&passkey)
        }
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        return (test, browser, passkey)
    }

    private static func context(
        _ attempt: Attempt, after reply: Reply, in browser: inout ScriptedUserAgent, _ test: TestServer
    ) async throws -> String? {
        let code = try await browser.decide(.allow, on: reply).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        return try await IssuedTokens(test).verified(tokens.accessToken).authenticationContext
    }

    @Test(arguments: Wish.allCases)
    func `a signed-in user confirms with a passkey, and is not asked for a password`(wish: Wish) async throws {
        let (test, signedIn, passkey) = try await Self.signedIn()
        var browser = signedIn
        let former = try await test.store.sessions(of: test.alice.id).map(\.id)
        let attempt = wish.asks(test)
        let reply = try await browser.open(attempt.url)
        let page = try reply.signInPage
        #expect(page.confirming == "Alice")
        let html = try reply.html()
        #expect(html.contains("Confirm that it&#39;s you") || html.contains("Confirm that it's you"))
        #expect(!html.contains("type=\"password\"") && !html.contains("name=\"username\""))
        // The browser is asked for the passkeys of this user.
        #expect(page.passkeys?.options.contains(Base64URL.encode(passkey.credentialID)) == true)
        let consent = try await browser.signIn(on: reply, with: passkey)
        #expect(try await Self.context(attempt, after: consent, in: &browser, test) == Self.passkey)
        // The session continues.
        #expect(Set(try await test.store.sessions(of: test.alice.id).map(\.id)) == Set(former))
        // From now on, nothing is missing.
        _ = try await browser.open(wish.asks(test).with("prompt", "consent").url).consentPage
    }

    @Test(arguments: Wish.allCases)
    func `a user who signs in with a password confirms with the passkey afterwards`(wish: Wish) async throws {
        let (test, _, passkey) = try await Self.signedIn()
        var browser = test.browser()
        let attempt = wish.asks(test)
        let first = try await browser.open(attempt.url)
        #expect(try first.signInPage.confirming == nil)
        let second = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        #expect(try second.signInPage.confirming == "Alice")
        let consent = try await browser.signIn(on: second, with: passkey)
        #expect(try await Self.context(attempt, after: consent, in: &browser, test) == Self.passkey)
    }

    @Test(arguments: Wish.allCases)
    func `a user who cancels gives the client an error and no weaker token`(wish: Wish) async throws {
        let (test, signedIn, passkey) = try await Self.signedIn()
        var browser = signedIn
        let page = try await browser.open(wish.asks(test).url).signInPage
        let form = FormParameters([
            "request": page.request, "ticket": page.ticket, "step_up": "true", "cancel": "true",
        ])
        let reply = try await browser.submit(form, to: page.action)
        #expect(try reply.redirectedError.code == .unmetAuthenticationRequirements)
        var foreign = passkey
        foreign.origin = "https://evil.example"
        let again = try await browser.signIn(on: try await browser.open(wish.asks(test).url), with: foreign)
        #expect(again.status == .badRequest)
        let shown = try again.signInPage
        #expect(shown.confirming == "Alice" && shown.isPasskeyWrong)
    }

    // In another tab, the user signs in again with less, while the consent page is open.
    @Test func `a page that is answered with a weaker session gives no code`() async throws {
        let (test, signedIn, passkey) = try await Self.signedIn()
        var browser = signedIn
        let attempt = Wish.required.asks(test)
        let consent = try await browser.signIn(on: try await browser.open(attempt.url), with: passkey)
        _ = try consent.consentPage
        let login = try await browser.open(Attempt(test).with("prompt", "login").url)
        _ = try await browser.signIn(on: login, username: "alice", password: TestServer.password).consentPage
        let reply = try await browser.decide(.allow, on: consent)
        #expect(reply.location?.contains("code=") != true)
        #expect(reply.page is ConsentPage == false)
    }

    // RFC 6265 §5.3: a confirmation keeps the cookie as the user has chosen it.
    @Test func `a confirmation keeps the choice to stay signed in`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice", stayingSignedIn: true)
        var passkey = TestPasskey()
        try await browser.add(&passkey)
        let page = try await browser.open(Wish.required.asks(test).url)
        _ = try await browser.signIn(on: page, with: passkey).consentPage
        #expect(try await test.store.sessions(of: test.alice.id).map(\.isPersistent) == [true])
    }

    @Test func `a user without a passkey is not asked for one`() async throws {
        let (test, signedIn, _) = try await Self.signedIn(withPasskey: false)
        var browser = signedIn
        let preferred = Wish.preferred.asks(test)
        let consent = try await browser.open(preferred.url)
        #expect(try await Self.context(preferred, after: consent, in: &browser, test) == Self.password)
        let refused = try await browser.open(Wish.required.asks(test).url)
        #expect(try refused.redirectedError.code == .unmetAuthenticationRequirements)
        // Nor after the sign-in.
        var other = test.browser()
        let page = try await other.open(Wish.required.asks(test).url)
        let reply = try await other.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try reply.redirectedError.code == .unmetAuthenticationRequirements)
        // The sign-in itself counts.
        #expect(try await other.open("/account").page is AccountPage)
    }

    @Test func `without pages, a required passkey is an error and a preferred one is left out`() async throws {
        let (test, signedIn, _) = try await Self.signedIn()
        var browser = signedIn
        let consent = try await browser.open(Attempt(test, for: "openid").url)
        _ = try await browser.decide(.allow, on: consent)
        let required = try await browser.open(Wish.required.asks(test).with("prompt", "none").url)
        #expect(try required.redirectedError.code == .loginRequired)
        let preferred = try await browser.open(Wish.preferred.asks(test).with("prompt", "none").url)
        #expect(try preferred.redirectedError.code == .consentRequired)
    }

    @Test(arguments: Wish.allCases)
    func `a passkey satisfies a request for a password, and the tokens state the password`(wish: Wish) async throws {
        let (test, _, passkey) = try await Self.signedIn()
        var browser = test.browser()
        let attempt = wish.asks(test, for: Self.password)
        let consent = try await browser.signIn(on: try await browser.open(attempt.url), with: passkey)
        #expect(try await Self.context(attempt, after: consent, in: &browser, test) == Self.password)
        // Another client gets what the sign-in was.
        let plain = Attempt(test, for: "openid").with("prompt", "consent")
        let again = try await browser.open(plain.url)
        #expect(try await Self.context(plain, after: again, in: &browser, test) == Self.passkey)
    }

    // OpenID Connect Core §3.1.2.1: the values are in order of preference, and the weakest of them suffices.
    @Test func `one of several contexts suffices`() async throws {
        let (test, signedIn, _) = try await Self.signedIn()
        var browser = signedIn
        let attempt = Attempt(test, for: "openid").with("acr_values", "\(Self.passkey) urn:example:x \(Self.password)")
        let consent = try await browser.open(attempt.url)
        #expect(try await Self.context(attempt, after: consent, in: &browser, test) == Self.password)
    }
}
