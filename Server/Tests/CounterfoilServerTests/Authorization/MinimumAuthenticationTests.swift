import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The policy of a client that demands a minimum sign-in, which counts as a required `acr` does (RFC 9470 §5).
struct MinimumAuthenticationTests {
    /// A server with a client of such a policy, and a browser in which alice has signed in with the password.
    private struct Scene {
        let test: TestServer
        var browser: ScriptedUserAgent
        var passkey = TestPasskey()

        init(_ minimum: AuthenticationContext?, withPasskey: Bool = true) async throws {
            test = try await TestServer()
            if withPasskey {
                var other = test.browser(source: "198.51.100.1")
                try await other.signInToConsole(username: "alice")
                try await other.add(&passkey)
            }
            browser = test.browser()
            try await browser.signInToConsole(username: "alice")
            if let minimum { try await demand(minimum) }
        }

        func demand(_ minimum: AuthenticationContext, for other: RegisteredClient? = nil) async throws {
            let client = other ?? test.lightbox
            var policy = client.policy
            policy.minimumAuthentication = minimum
            try await test.setPolicy(policy, of: client.id)
        }
    }

    // A preference for less changes nothing.
    @Test(arguments: [AuthenticationContext.twoFactor, .passkey], ["", "urn:counterfoil:acr:password"])
    func `a signed-in user confirms first, and the tokens say so`(
        minimum: AuthenticationContext, wish: String
    ) async throws {
        var scene = try await Scene(minimum)
        let attempt = Attempt(scene.test, for: "openid photos.read").with("acr_values", wish.isEmpty ? nil : wish)
        let silent = try await scene.browser.open(attempt.with("prompt", "none").url)
        #expect(try silent.redirectedError.code == .loginRequired)
        let reply = try await scene.browser.open(attempt.url)
        #expect(try reply.signInPage.confirming == "Alice")
        let consent = try await scene.browser.signIn(on: reply, with: scene.passkey)
        let code = try await scene.browser.decide(.allow, on: consent).code
        let tokens = try await scene.test.redeem(attempt.exchange(code)).tokenResponse
        let access = try await IssuedTokens(scene.test).verified(tokens.accessToken)
        #expect(access.authenticationMethods == ["pop", "user", "mfa"])
        #expect(access.authenticationContext == (wish.isEmpty ? "urn:counterfoil:acr:passkey" : wish))
    }

    @Test func `a code satisfies a demand for two factors, and not one for a passkey`() async throws {
        var scene = try await Scene(.twoFactor)
        let app = try await scene.test.setUpSecondFactor(in: &scene.browser).app
        let asked = try await scene.browser.open(Attempt(scene.test).url)
        _ = try await scene.browser.enter(scene.test.code(of: app), on: asked).consentPage
        try await scene.demand(.passkey)
        #expect(try await scene.browser.open(Attempt(scene.test).url).signInPage.confirming == "Alice")
    }

    @Test func `a user who cannot sign in so gives the client an error and no token`() async throws {
        var scene = try await Scene(.passkey, withPasskey: false)
        let refused = try await scene.browser.open(Attempt(scene.test).url)
        #expect(try refused.redirectedError.code == .unmetAuthenticationRequirements)
        var other = scene.test.browser()
        let page = try await other.open(Attempt(scene.test).url)
        let afterwards = try await other.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try afterwards.redirectedError.code == .unmetAuthenticationRequirements)
        // Other clients are not affected.
        try await scene.demand(.password)
        _ = try await scene.browser.open(Attempt(scene.test).url).consentPage
    }

    @Test func `a refresh token of a weaker sign-in ends with the policy`() async throws {
        let scene = try await Scene(nil)
        let scope = "openid offline_access photos.read"
        let client = try await scene.test.register("Stay", redirectURIs: ["http://127.0.0.1/callback"], scope: scope)
        let tokens = try await Attempt(scene.test, by: client, for: scope).tokens()
        try await scene.demand(.twoFactor, for: client)
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        #expect(try await scene.test.redeem(refresh).tokenError.error == "invalid_grant")
        // It is not revoked: the owner can change the policy back.
        try await scene.demand(.password, for: client)
        _ = try await scene.test.redeem(refresh).tokenResponse
    }

    @Test func `a code of a weaker sign-in gives no token after the policy changed`() async throws {
        let scene = try await Scene(nil)
        let attempt = Attempt(scene.test)
        let code = try await attempt.authorize().code
        try await scene.demand(.twoFactor)
        #expect(try await scene.test.redeem(attempt.exchange(code)).tokenError.error == "invalid_grant")
    }

    @Test(arguments: [true, false])
    func `a device is approved only after such a sign-in`(withPasskey: Bool) async throws {
        var scene = try await Scene(nil, withPasskey: withPasskey)
        let device = try await TestDevice(scene.test)
        try await scene.demand(.passkey, for: device.client)
        let codes = try await device.codes()
        let reply = try await scene.browser.type(userCode: codes.userCode)
        guard withPasskey else {
            #expect(reply.status == .forbidden)
            #expect(try reply.problemPage.title == "This app needs a passkey")
            #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
            return
        }
        #expect(try reply.signInPage.confirming == "Alice")
        scene.test.clock.advance(by: 6)
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
        let consent = try await scene.browser.signIn(on: reply, with: scene.passkey)
        _ = try await scene.browser.decide(.allow, on: consent)
        scene.test.clock.advance(by: 6)
        let access = try await IssuedTokens(scene.test).verified(try await device.poll(codes).tokenResponse.accessToken)
        #expect(access.authenticationContext == "urn:counterfoil:acr:passkey")
    }

    @Test func `a device page that advises a stronger sign-in names what suffices`() async throws {
        var scene = try await Scene(nil, withPasskey: false)
        let device = try await TestDevice(scene.test)
        try await scene.demand(.twoFactor, for: device.client)
        let codes = try await device.codes()
        let either = try await scene.browser.type(userCode: codes.userCode)
        #expect(try either.problemPage.title == "This app needs a stronger sign-in")
        // The second step, which the user has, is not enough.
        try await scene.demand(.passkey, for: device.client)
        _ = try await scene.test.setUpSecondFactor(in: &scene.browser)
        let refused = try await scene.browser.type(userCode: codes.userCode)
        #expect(refused.status == .forbidden)
        #expect(try refused.problemPage.title == "This app needs a passkey")
    }

    @Test func `the page on which a user confirms for a device stays such a page, until the user cancels`()
        async throws
    {
        var scene = try await Scene(nil)
        let device = try await TestDevice(scene.test)
        try await scene.demand(.passkey, for: device.client)
        let codes = try await device.codes()
        let reply = try await scene.browser.type(userCode: codes.userCode)
        let wrong = try await scene.browser.signIn(on: reply, with: TestPasskey())
        #expect(wrong.status == .badRequest)
        let page = try wrong.signInPage
        #expect(page.confirming == "Alice" && page.problem != nil && page.clientName != nil)
        let cancel = FormParameters([
            "request": page.request, "ticket": page.ticket, "step_up": "true", "cancel": "true",
        ])
        #expect(try await scene.browser.submit(cancel, to: page.action).deviceDonePage.kind == .denied)
        #expect(try await device.poll(codes).tokenError.error == "access_denied")
    }

    @Test func `a code that comes too late asks a user who confirms for a device again`() async throws {
        var scene = try await Scene(nil, withPasskey: false)
        let device = try await TestDevice(scene.test)
        try await scene.demand(.twoFactor, for: device.client)
        let app = try await scene.test.setUpSecondFactor(in: &scene.browser).app
        let codes = try await device.codes()
        var page = try await scene.browser.type(userCode: codes.userCode).codePage
        #expect(page.isConfirming)
        page.pending = "forged"
        let again = try await scene.browser.submit(page.form(scene.test.code(of: app)), to: page.action)
        #expect(try again.codePage.isConfirming)
        _ = try await scene.browser.enter(scene.test.code(of: app), on: again).consentPage
    }

    @Test func `a pushed request is confirmed, too`() async throws {
        var scene = try await Scene(.passkey)
        let attempt = Attempt(scene.test)
        let pushed = try await PushedAttempt(attempt)
        let reply = try await scene.browser.open(pushed.url)
        #expect(try reply.signInPage.confirming == "Alice")
        let consent = try await scene.browser.signIn(on: reply, with: scene.passkey)
        let code = try await scene.browser.decide(.allow, on: consent).code
        let tokens = try await scene.test.redeem(attempt.exchange(code)).tokenResponse
        let access = try await IssuedTokens(scene.test).verified(tokens.accessToken)
        #expect(access.authenticationContext == "urn:counterfoil:acr:passkey")
    }
}
