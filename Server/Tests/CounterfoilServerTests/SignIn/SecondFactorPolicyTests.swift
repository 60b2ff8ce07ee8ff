import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The users who must have a second factor, and the browsers that are remembered for one.
struct SecondFactorPolicyTests {
    private static func enterPassword(
        _ test: TestServer, in browser: inout ScriptedUserAgent, as name: String = "alice",
        password: String = TestServer.password
    ) async throws -> Reply {
        let page = try await browser.open(Attempt(test).with("prompt", "login").url)
        return try await browser.signIn(on: page, username: name, password: password)
    }

    /// Returns the form of a page on which a user sets up the second factor in a sign-in.
    private static func form(_ page: CodeSetupPage, _ code: String) -> FormParameters {
        FormParameters([
            "request": page.request, "ticket": page.ticket, "pending": page.pending, "setup": page.offer.setup,
            "code": code,
        ])
    }

    @Test(arguments: [
        (SecondFactorPolicy.off, false, false), (.offered, false, false), (.administrators, false, true),
        (.everyone, true, true),
    ])
    func `the policy decides who must set up a second factor`(
        policy: SecondFactorPolicy, requiresUsers: Bool, requiresAdministrators: Bool
    ) async throws {
        let test = try await TestServer { $0.secondFactor = policy }
        _ = try await test.addUser("grace", role: .administrator)
        for (name, isRequired) in [("alice", requiresUsers), ("grace", requiresAdministrators)] {
            var browser = test.browser()
            let reply = try await Self.enterPassword(test, in: &browser, as: name)
            #expect(reply.page is CodeSetupPage == isRequired, "\(name)")
            #expect(reply.page is ConsentPage == !isRequired, "\(name)")
        }
    }

    @Test func `a user who must have a second factor sets it up in the sign-in, and gets in`() async throws {
        let test = try await TestServer { $0.secondFactor = .everyone }
        var browser = test.browser()
        let reply = try await Self.enterPassword(test, in: &browser)
        #expect(try await test.store.sessions(of: test.alice.id).isEmpty)
        let page = try reply.codeSetupPage
        let app = try TestAuthenticator(page.offer)
        #expect(page.offer.uri.hasPrefix("otpauth://totp/Example%20Photos:alice?secret=\(app.secret.exposed)&issuer="))
        // A wrong code keeps the key that is already in the app.
        let wrong = app.wrongCode(at: test.clock.wall)
        let again = try await browser.submit(Self.form(page, wrong), to: page.action)
        #expect(again.status == .badRequest)
        let shown = try again.codeSetupPage
        #expect(shown.offer.secret == page.offer.secret && shown.problem?.contains("belongs to the key") == true)
        #expect(try await test.store.secondFactor(of: test.alice.id) == .none)

        let done = try await browser.submit(Self.form(shown, test.code(of: app)), to: shown.action)
        let codes = try done.recoveryCodesPage
        #expect(codes.codes.count == RecoveryCode.count)
        // The user takes some minutes to write them down.
        test.clock.advance(by: 300)
        _ = try await browser.open(codes.next).consentPage
        #expect(try await test.store.sessions(of: test.alice.id).map(\.methods) == [[.password, .code]])
        let events = try await test.store.audit(AuditQuery(kind: .secondFactor)).map(\.event)
        #expect(events.map(\.detail) == ["set up"] && events.map(\.userID) == [test.alice.id])
        // The next sign-in asks for a code, and a recovery code works.
        let next = try await Self.enterPassword(test, in: &browser)
        _ = try await browser.enter(codes.codes[0], on: next).consentPage
    }

    @Test func `two tabs set up one second factor`() async throws {
        let test = try await TestServer { $0.secondFactor = .everyone }
        var browser = test.browser()
        let first = try await Self.enterPassword(test, in: &browser).codeSetupPage
        let second = try await Self.enterPassword(test, in: &browser).codeSetupPage
        let app = try TestAuthenticator(first.offer)
        _ = try await browser.submit(Self.form(first, test.code(of: app)), to: first.action).recoveryCodesPage
        let code = test.code(of: try TestAuthenticator(second.offer))
        let refused = try await browser.submit(Self.form(second, code), to: second.action)
        #expect(refused.status == .badRequest)
        _ = try refused.signInPage
        guard case .active(let factor, _) = try await test.store.secondFactor(of: test.alice.id) else {
            Issue.record("the second factor is missing")
            return
        }
        #expect(factor.digest == app.secret.digest)
    }

    // A thief of the password could set up a second factor as well as the user.
    @Test func `a user with a passkey uses it where the password does not suffice`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        var passkey = TestPasskey()
        try await browser.add(&passkey)
        var settings = test.server.settings
        settings.secondFactor = .everyone
        test.server.replaceSettings(by: settings)
        var other = test.browser()
        let refused = try await Self.enterPassword(test, in: &other)
        #expect(refused.status == .badRequest)
        #expect(try refused.signInPage.problem?.contains("Sign in with your passkey") == true)
        _ = try await other.signIn(on: refused, with: passkey).consentPage
    }

    // MARK: - Remembered browsers

    /// Signs alice in with a code in a browser that is remembered.
    private static func remembered(
        configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws -> (TestServer, ScriptedUserAgent, TestAuthenticator) {
        let test = try await TestServer(configure: configure)
        var setup = test.browser()
        try await setup.signInToConsole(username: "alice")
        let app = try await test.setUpSecondFactor(in: &setup).app
        var browser = test.browser()
        let reply = try await enterPassword(test, in: &browser)
        _ = try await browser.enter(test.code(of: app), on: reply, remembering: true).consentPage
        test.clock.advance(by: 30)
        return (test, browser, app)
    }

    @Test func `a remembered browser needs no code for 30 days, and others do`() async throws {
        let (test, signedIn, app) = try await Self.remembered()
        var browser = signedIn
        #expect(browser.cookies["__Host-counterfoil-remembered"] != nil)
        _ = try await Self.enterPassword(test, in: &browser).consentPage
        // The session says what was proved.
        let session = try #require(try await test.store.sessions(of: test.alice.id).first)
        #expect(session.methods == [.password])
        let event = try #require(try await test.store.audit(AuditQuery(kind: .signIn, limit: 1)).first?.event)
        #expect(event.detail == "second factor: remembered browser")
        var other = test.browser()
        _ = try await Self.enterPassword(test, in: &other).codePage
        test.clock.advance(by: 30 * 86_400)
        let asked = try await Self.enterPassword(test, in: &browser)
        // Without the box, the browser is not remembered again.
        _ = try await browser.enter(test.code(of: app), on: asked).consentPage
        test.clock.advance(by: 30)
        _ = try await Self.enterPassword(test, in: &browser).codePage
    }

    @Test func `the owner shortens the time, or remembers no browser`() async throws {
        let (test, signedIn, _) = try await Self.remembered()
        var (browser, settings) = (signedIn, test.server.settings)
        #expect(try await Self.enterPassword(test, in: &browser).page is ConsentPage)
        test.clock.advance(by: 2 * 86_400)
        settings.secondFactorMemory = 1
        test.server.replaceSettings(by: settings)
        let page = try await Self.enterPassword(test, in: &browser)
        #expect(try page.codePage.memory == "Ask for no code on this device for a day")
        settings.secondFactorMemory = 0
        test.server.replaceSettings(by: settings)
        let none = try await Self.enterPassword(test, in: &browser)
        #expect(try none.codePage.memory == nil)
        #expect(try !none.html().contains("remember"))
    }

    /// A change after which a browser is not remembered any more.
    enum Change: CaseIterable { case password, secret, user }

    @Test(arguments: Change.allCases)
    func `a new password or another secret ends it, and it is of one user`(change: Change) async throws {
        let (test, signedIn, app) = try await Self.remembered()
        var (browser, name, password) = (signedIn, "alice", TestServer.password)
        switch change {
        case .password:
            password = "another correct horse"
            let hash = try await PasswordHasher().hash(try #require(Password(typed: password)))
            _ = try await test.store.changePassword(
                of: test.alice.id, from: test.alice.passwordHash, to: hash, keeping: nil, at: test.clock.now,
                recording: [])
        case .secret:
            let step = AuthenticatorSecret.step(at: test.clock.wall)
            _ = try await test.store.changeSecondFactor(
                of: test.alice.id, to: .removal, proving: .code(app.secret.digest, step: step), recording: [])
            var other = test.browser()
            try await other.signInToConsole(username: "alice")
            try await test.setUpSecondFactor(in: &other)
        case .user:
            name = "bob"
            _ = try await test.addUser(name)
            var other = test.browser()
            try await other.signInToConsole(username: name)
            try await test.setUpSecondFactor(in: &other)
        }
        _ = try await Self.enterPassword(test, in: &browser, as: name, password: password).codePage
    }
}
