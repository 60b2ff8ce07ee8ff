import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Requests for two factors by a user who is signed in (RFC 9470 §5, OpenID Connect Core §5.5.1.1).
struct SecondFactorStepUpTests {
    private static let twoFactor = "urn:counterfoil:acr:two-factor"

    /// A way to ask for two factors, and whether the client gets no weaker token.
    enum Wish: CaseIterable {
        case preferred, required

        func asks(_ test: TestServer, for context: String = SecondFactorStepUpTests.twoFactor) -> Attempt {
            switch self {
            case .preferred: Attempt(test, for: "openid").with("acr_values", context)
            case .required:
                Attempt(test, for: "openid").with(
                    "claims", #"{"id_token":{"acr":{"essential":true,"value":"\#(context)"}}}"#)
            }
        }
    }

    private struct Scene {
        let store = TestStore()
        let test: TestServer
        let app: TestAuthenticator
        let recoveryCodes: [String]
        /// A browser in which alice has signed in with the password alone.
        var browser: ScriptedUserAgent

        init() async throws {
            test = try await TestServer(store: store)
            browser = test.browser()
            try await browser.signInToConsole(username: "alice")
            (app, recoveryCodes) = try await test.setUpSecondFactor(in: &browser)
        }

        var code: String { test.code(of: app) }
    }

    /// Allows the request on the page of a reply, and returns `acr` and `amr` of the access token and the ID token.
    private static func contexts(
        _ attempt: Attempt, after reply: Reply, in browser: inout ScriptedUserAgent, _ test: TestServer
    ) async throws -> (context: String?, methods: [String]?) {
        let code = try await browser.decide(.allow, on: reply).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        let access = try await IssuedTokens(test).verified(tokens.accessToken)
        let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
        #expect(claims["acr"] as? String == access.authenticationContext)
        #expect(claims["amr"] as? [String] == access.authenticationMethods)
        return (access.authenticationContext, access.authenticationMethods)
    }

    @Test(arguments: Wish.allCases)
    func `a signed-in user is asked for the code and not for the password`(wish: Wish) async throws {
        var scene = try await Scene()
        let former = try await scene.test.store.sessions(of: scene.test.alice.id).map(\.id)
        let attempt = wish.asks(scene.test)
        let reply = try await scene.browser.open(attempt.url)
        #expect(try reply.codePage.isConfirming && reply.codePage.userDisplayName == "Alice")
        #expect(try !reply.html().contains(#"type="password""#))
        let consent = try await scene.browser.enter(scene.code, on: reply)
        let tokens = try await Self.contexts(attempt, after: consent, in: &scene.browser, scene.test)
        #expect(tokens.context == Self.twoFactor && tokens.methods == ["pwd", "otp", "mfa"])
        // The session continues, from the time at which the password was entered.
        let sessions = try await scene.test.store.sessions(of: scene.test.alice.id)
        #expect(Set(sessions.map(\.id)) == Set(former))
        let session = try #require(sessions.first { $0.methods == [.password, .code] })
        #expect(session.authenticatedAt < scene.test.clock.now)
        // From now on, nothing is missing.
        _ = try await scene.browser.open(wish.asks(scene.test).with("prompt", "consent").url).consentPage
    }

    // RFC 8176 has no value for a code from a list.
    @Test func `a recovery code is two factors without a one-time password`() async throws {
        var scene = try await Scene()
        let attempt = Wish.required.asks(scene.test)
        let reply = try await scene.browser.open(attempt.url)
        let consent = try await scene.browser.enter(scene.recoveryCodes[0], on: reply)
        let tokens = try await Self.contexts(attempt, after: consent, in: &scene.browser, scene.test)
        #expect(tokens.context == Self.twoFactor && tokens.methods == ["pwd", "mfa"])
    }

    @Test(arguments: Wish.allCases)
    func `a new sign-in asks for the code once`(wish: Wish) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let attempt = wish.asks(scene.test)
        let reply = try await browser.signIn(
            on: try await browser.open(attempt.url), username: "alice", password: TestServer.password)
        #expect(try !reply.codePage.isConfirming)
        let consent = try await browser.enter(scene.code, on: reply)
        #expect(
            try await Self.contexts(attempt, after: consent, in: &browser, scene.test).context == Self.twoFactor)
    }

    @Test(arguments: Wish.allCases)
    func `a remembered browser enters a code for an app that asks for two factors`(wish: Wish) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        func enterPassword(_ attempt: Attempt) async throws -> Reply {
            let page = try await browser.open(attempt.with("prompt", "login").url)
            return try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        }
        let first = try await enterPassword(Attempt(scene.test))
        _ = try await browser.enter(scene.code, on: first, remembering: true).consentPage
        scene.test.clock.advance(by: 30)
        let attempt = wish.asks(scene.test)
        let asked = try await enterPassword(attempt)
        #expect(try asked.codePage.isConfirming)
        _ = try await browser.enter(scene.code, on: asked).consentPage
    }

    @Test(arguments: Wish.allCases)
    func `a user who cancels, or has signed out, gives the client no weaker token`(wish: Wish) async throws {
        var scene = try await Scene()
        let page = try await scene.browser.open(wish.asks(scene.test).url).codePage
        var form = page.form("")
        form.append("cancel", "true")
        let reply = try await scene.browser.submit(form, to: page.action)
        #expect(try reply.redirectedError.code == .unmetAuthenticationRequirements)
        // The page is worth nothing without its session.
        let open = try await scene.browser.open(wish.asks(scene.test).url).codePage
        scene.browser.cookies["__Host-counterfoil-session"] = nil
        let refused = try await scene.browser.submit(open.form(scene.code), to: open.action)
        #expect(try refused.signInPage.confirming == nil)
    }

    @Test func `a user without a second factor is not asked for one, and a passkey replaces it`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let preferred = Wish.preferred.asks(test)
        let consent = try await browser.open(preferred.url)
        let tokens = try await Self.contexts(preferred, after: consent, in: &browser, test)
        #expect(tokens.context == "urn:counterfoil:acr:password" && tokens.methods == ["pwd"])
        let refused = try await browser.open(Wish.required.asks(test).url)
        #expect(try refused.redirectedError.code == .unmetAuthenticationRequirements)
        var passkey = TestPasskey()
        try await browser.add(&passkey)
        let required = Wish.required.asks(test).with("prompt", "consent")
        let page = try await browser.open(required.url)
        #expect(try page.signInPage.confirming == "Alice")
        let confirmed = try await browser.signIn(on: page, with: passkey)
        // The client finds the value for which it asked.
        let stronger = try await Self.contexts(required, after: confirmed, in: &browser, test)
        #expect(stronger.context == Self.twoFactor && stronger.methods == ["pop", "user", "mfa"])
    }

    @Test func `a lost second factor confirms nothing`() async throws {
        var scene = try await Scene()
        try await scene.store.database.engine.commit(ending: .none) { try $0.send("DELETE FROM second_factors") }
        let refused = try await scene.browser.open(Wish.required.asks(scene.test).url)
        #expect(try refused.redirectedError.code == .unmetAuthenticationRequirements)
        _ = try await scene.browser.open(Wish.preferred.asks(scene.test).url).consentPage
    }

    @Test func `two factors are not a passkey`() async throws {
        var scene = try await Scene()
        let attempt = Wish.required.asks(scene.test, for: "urn:counterfoil:acr:passkey")
        let reply = try await scene.browser.open(attempt.url)
        #expect(try reply.redirectedError.code == .unmetAuthenticationRequirements)
        let silent = try await scene.browser.open(Wish.required.asks(scene.test).with("prompt", "none").url)
        #expect(try silent.redirectedError.code == .loginRequired)
    }

    // OpenID Connect Core §3.1.2.1: the code alone is no new sign-in.
    @Test func `a request for a new sign-in asks for the password, too`() async throws {
        var scene = try await Scene()
        scene.test.clock.advance(by: 600)
        for (name, value) in [("prompt", "login"), ("max_age", "60")] {
            let attempt = Wish.required.asks(scene.test).with(name, value)
            let page = try await scene.browser.open(attempt.url)
            let reply = try await scene.browser.signIn(on: page, username: "alice", password: TestServer.password)
            #expect(try !reply.codePage.isConfirming)
            _ = try await scene.browser.enter(scene.code, on: reply).consentPage
            scene.test.clock.advance(by: 600)
        }
    }
}
