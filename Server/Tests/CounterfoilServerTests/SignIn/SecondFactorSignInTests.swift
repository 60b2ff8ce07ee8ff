import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The sign-in with a password and a code of an authenticator app (RFC 6238).
struct SecondFactorSignInTests {
    /// A server whose user alice has a second factor.
    fileprivate struct Scene {
        let store = TestStore()
        let test: TestServer
        let app: TestAuthenticator
        let recoveryCodes: [String]

        init() async throws {
            test = try await TestServer(store: store)
            var browser = test.browser(source: "198.51.100.1")
            try await browser.signInToConsole(username: "alice")
            (app, recoveryCodes) = try await test.setUpSecondFactor(in: &browser)
            _ = try await store.signOutEverywhere(test.alice.id, except: nil, at: test.clock.now, recording: [])
        }

        var code: String { test.code(of: app) }

        /// Enters the password for an app, and returns the page that follows.
        func enterPassword(in browser: inout ScriptedUserAgent, _ attempt: Attempt? = nil) async throws -> Reply {
            let page = try await browser.open((attempt ?? Attempt(test).with("prompt", "login")).url)
            return try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        }

        func lastSignIn() async throws -> AuditEvent {
            try #require(try await store.audit(AuditQuery(kind: .signIn, limit: 1)).first?.event)
        }

        /// Changes the policy, so that every user must have a second factor.
        func requireOfEveryone() {
            var settings = test.server.settings
            settings.secondFactor = .everyone
            test.server.replaceSettings(by: settings)
        }

        func sessions() async throws -> [Session] { try await store.sessions(of: test.alice.id) }
    }

    @Test func `the password leads to a page for the code, and the code signs in`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let reply = try await scene.enterPassword(in: &browser)
        let page = try reply.codePage
        #expect(reply.status == .ok && page.userDisplayName == "Alice" && page.problem == nil && !page.isConfirming)
        let html = try reply.html()
        #expect(html.contains(#"inputmode="numeric" autocomplete="one-time-code""#))
        #expect(!html.contains(#"type="password""#) && !html.contains(#"name="username""#))
        #expect(!html.contains("<script"))
        // Nothing begins before the code.
        #expect(try await scene.sessions().isEmpty)
        #expect(browser.cookies["__Host-counterfoil-session"] == nil)
        let consent = try await browser.enter(scene.code, on: reply)
        #expect(try consent.consentPage.userDisplayName == "Alice")
        #expect(try await scene.sessions().map(\.methods) == [[.password, .code]])
        let event = try await scene.lastSignIn()
        #expect(event.outcome == .done && event.detail == "second factor: code")
    }

    /// The pages on which a user signs in.
    enum Door: CaseIterable {
        case authorization, console, device

        fileprivate func open(_ browser: inout ScriptedUserAgent, at test: TestServer) async throws -> Reply {
            switch self {
            case .authorization: try await browser.open(Attempt(test).url)
            case .console: try await browser.open("/sign-in")
            case .device: try await browser.type(userCode: try await TestDevice(test).codes().userCode)
            }
        }
    }

    @Test(arguments: Door.allCases)
    func `every sign-in page asks for the code, and keeps the choice to stay signed in`(door: Door) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await door.open(&browser, at: scene.test)
        let reply = try await browser.signIn(
            on: page, username: "alice", password: TestServer.password, stayingSignedIn: true)
        let after = try await browser.enter(scene.code, on: reply)
        #expect(after.page is ConsentPage || after.page is AccountPage)
        #expect(try await scene.sessions().map(\.isPersistent) == [true])
    }

    @Test func `a wrong code signs no user in, and the page is shown again`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let first = try await scene.enterPassword(in: &browser)
        let again = try await browser.enter(scene.app.wrongCode(at: scene.test.clock.wall), on: first)
        #expect(again.status == .badRequest)
        #expect(try again.codePage.problem?.hasPrefix("Wrong code.") == true)
        let event = try await scene.lastSignIn()
        #expect(event.reason == .secondFactor && event.userID == scene.test.alice.id && event.outcome == .refused)
        _ = try await browser.enter(scene.code, on: again).consentPage
    }

    @Test func `a code counts once, in two tabs`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let first = try await scene.enterPassword(in: &browser)
        let second = try await scene.enterPassword(in: &browser)
        let code = scene.code
        _ = try await browser.enter(code, on: first).consentPage
        let refused = try await browser.enter(code, on: second)
        #expect(refused.status == .badRequest)
        #expect(try refused.codePage.problem?.contains("already used") == true)
        #expect(try await scene.lastSignIn().explanation == "the code was used before")
        scene.test.clock.advance(by: 30)
        _ = try await browser.enter(scene.code, on: refused).consentPage
    }

    // The store decides when the session begins.
    @Test func `a code that is used at another server during the sign-in begins no session`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let reply = try await scene.enterPassword(in: &browser)
        let (store, alice) = (scene.store, scene.test.alice.id)
        let use = SecondFactorUse.code(
            scene.app.secret.digest, step: AuthenticatorSecret.step(at: scene.test.clock.wall))
        store.before(.beginSession) {
            _ = try? await store.changeSecondFactor(of: alice, to: .recoveryCodes([]), proving: use, recording: [])
        }
        let refused = try await browser.enter(scene.code, on: reply)
        #expect(refused.status == .badRequest)
        #expect(try refused.codePage.problem?.contains("already used") == true)
        #expect(try await scene.sessions().isEmpty)
    }

    @Test(arguments: [(-90.0, false), (-60, false), (-29, true), (0, true), (29, true), (60, false), (90, false)])
    func `a clock of the phone may differ by half a minute, and the page names it`(lead: Double, isRight: Bool)
        async throws
    {
        let scene = try await Scene()
        scene.test.clock.advance(by: 120)
        var browser = scene.test.browser()
        let reply = try await scene.enterPassword(in: &browser)
        let after = try await browser.enter(scene.app.code(at: scene.test.clock.wall + lead), on: reply)
        guard isRight else {
            #expect(try after.codePage.problem?.contains("clock of your phone") == true)
            return
        }
        _ = try after.consentPage
    }

    @Test func `each recovery code signs in once`() async throws {
        let scene = try await Scene()
        #expect(Set(scene.recoveryCodes).count == RecoveryCode.count)
        var browser = scene.test.browser()
        let code = scene.recoveryCodes[0].uppercased().replacing("-", with: " ")
        _ = try await browser.enter(code, on: try await scene.enterPassword(in: &browser)).consentPage
        #expect(try await scene.sessions().map(\.methods) == [[.password, .recoveryCode]])
        #expect(try await scene.lastSignIn().detail == "second factor: recovery code")
        let refused = try await browser.enter(code, on: try await scene.enterPassword(in: &browser))
        #expect(try refused.codePage.problem?.hasPrefix("Wrong code.") == true)
        let other = try await browser.enter(scene.recoveryCodes[1], on: refused)
        _ = try other.consentPage
        guard case .active(_, let left) = try await scene.store.secondFactor(of: scene.test.alice.id) else {
            Issue.record("the second factor is missing")
            return
        }
        #expect(left == RecoveryCode.count - 2)
    }

    @Test func `five wrong codes of a user block the right one for 15 minutes`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        var reply = try await scene.enterPassword(in: &browser)
        for _ in 0..<5 {
            reply = try await browser.enter(scene.app.wrongCode(at: scene.test.clock.wall), on: reply)
            #expect(reply.status == .badRequest)
        }
        // From another address, too.
        var other = scene.test.browser(source: "203.0.113.9")
        let refused = try await other.enter(scene.code, on: try await scene.enterPassword(in: &other))
        #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] != nil)
        #expect(try refused.codePage.retryAfterSeconds != nil)
        let throttled = try await scene.store.audit(AuditQuery(kind: .throttled, limit: 1)).first?.event
        #expect(throttled?.reason == .throttledUser && throttled?.userID == scene.test.alice.id)
        scene.test.clock.advance(by: 15 * 60 + 1)
        _ = try await browser.enter(scene.code, on: try await scene.enterPassword(in: &browser)).consentPage
    }

    // The user gets in while an attacker types codes.
    @Test func `recovery codes have a limit of their own`() async throws {
        let scene = try await Scene()
        var attacker = scene.test.browser(source: "203.0.113.9")
        var reply = try await scene.enterPassword(in: &attacker)
        for _ in 0..<6 { reply = try await attacker.enter(scene.app.wrongCode(at: scene.test.clock.wall), on: reply) }
        #expect(reply.status == .tooManyRequests)
        var browser = scene.test.browser()
        let asked = try await scene.enterPassword(in: &browser)
        _ = try await browser.enter(scene.recoveryCodes[0], on: asked).consentPage
        for _ in 0..<10 { reply = try await attacker.enter("abcde-fghij", on: reply) }
        #expect(reply.status == .badRequest)
        #expect(try await attacker.enter("abcde-fghij", on: reply).status == .tooManyRequests)
    }

    @Test func `thirty wrong codes of a user in a day block further ones, also after a right one`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        for round in 1...10 {
            var reply = try await scene.enterPassword(in: &browser)
            for _ in 0..<3 {
                reply = try await browser.enter(scene.app.wrongCode(at: scene.test.clock.wall), on: reply)
                #expect(reply.status == .badRequest)
            }
            scene.test.clock.advance(by: 1000)
            let after = try await browser.enter(scene.code, on: try await scene.enterPassword(in: &browser))
            #expect(after.page is ConsentPage == (round < 10))
        }
        let blocked = try await browser.enter(scene.code, on: try await scene.enterPassword(in: &browser))
        #expect(blocked.status == .tooManyRequests)
        scene.test.clock.advance(by: 86_400)
        _ = try await browser.enter(scene.code, on: try await scene.enterPassword(in: &browser)).consentPage
    }

    @Test func `a password that stops at the code is in the audit log`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        _ = try await scene.enterPassword(in: &browser).codePage
        let event = try await scene.lastSignIn()
        #expect(event.reason == .secondFactorAsked && event.outcome == .refused)
        #expect(event.userID == scene.test.alice.id && event.explanation == "password accepted, code asked")
    }

    // The password was verified for the page with the code.
    @Test func `no form sets up another app in place of the code`() async throws {
        let scene = try await Scene()
        scene.requireOfEveryone()
        let (store, alice) = (scene.store, scene.test.alice.id)
        var (own, browser) = (scene.test.browser(), scene.test.browser())
        let signIn = try await own.signIn(
            on: try await own.open("/sign-in"), username: "alice", password: TestServer.password)
        _ = try await own.enter(scene.code, on: signIn)
        let offer = try #require(try await own.open("/account/second-factor").secondFactorPage.offer)
        let page = try await scene.enterPassword(in: &browser).codePage
        #expect(try await store.resetSecondFactor(of: alice, recording: []))
        var form = page.form(scene.test.code(of: try TestAuthenticator(offer)))
        form.append("setup", offer.setup)
        let refused = try await browser.submit(form, to: page.action)
        #expect(refused.status == .badRequest && refused.page is SignInPage)
        #expect(try await store.secondFactor(of: alice) == .none)
    }

    /// A way in which the page for the code becomes worthless.
    enum Change: CaseIterable {
        case otherBrowser, otherRequest, time, earlierTime, password, disabled

        fileprivate func make(in scene: Scene, _ browser: inout ScriptedUserAgent, _ page: inout CodePage) async throws
        {
            let (store, alice, clock) = (scene.store, scene.test.alice, scene.test.clock)
            switch self {
            case .otherBrowser:
                browser = scene.test.browser()
                let own = try await scene.enterPassword(in: &browser).codePage
                (page.ticket, page.request) = (own.ticket, own.request)
            case .otherRequest:
                let other = Attempt(scene.test, for: "openid").with("prompt", "login")
                let own = try await scene.enterPassword(in: &browser, other).codePage
                (page.ticket, page.request) = (own.ticket, own.request)
            case .time: clock.advance(by: 601)
            case .earlierTime: clock.advance(by: -120)
            case .password:
                _ = try await store.changePassword(
                    of: alice.id, from: alice.passwordHash, to: .other, keeping: nil, at: clock.now, recording: [])
            case .disabled: _ = try await store.disableUser(alice.id, at: clock.now, recording: [])
            }
        }
    }

    @Test(arguments: Change.allCases)
    func `the page for the code holds for its browser and request, ten minutes, and the password`(change: Change)
        async throws
    {
        let scene = try await Scene()
        var browser = scene.test.browser()
        var page = try await scene.enterPassword(in: &browser).codePage
        try await change.make(in: scene, &browser, &page)
        let refused = try await browser.submit(page.form(scene.code), to: page.action)
        #expect(refused.status == .badRequest)
        #expect(try refused.signInPage.problem == "It took too long, or your account has changed. Sign in again.")
        #expect(try await scene.sessions().isEmpty)
    }

    @Test(arguments: ["", "AAAA", "%00"])
    func `a forged hidden field begins no session`(pending: String) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        var page = try await scene.enterPassword(in: &browser).codePage
        page.pending = pending
        let refused = try await browser.submit(page.form(scene.code), to: page.action)
        #expect(refused.status == .badRequest)
        _ = try refused.signInPage
        #expect(try await scene.sessions().isEmpty)
    }

    // The record of the user says that there is one.
    @Test func `a lost second factor refuses the sign-in, and tells the operator`() async throws {
        let scene = try await Scene()
        try await scene.store.database.engine.commit(ending: .none) { database in
            try database.send("DELETE FROM second_factors")
        }
        #expect(try await scene.store.secondFactor(of: scene.test.alice.id) == .lost)
        var browser = scene.test.browser()
        let reply = try await scene.enterPassword(in: &browser)
        #expect(reply.status == .badRequest)
        #expect(try reply.signInPage.problem?.contains("Ask its operator") == true)
        #expect(try await scene.sessions().isEmpty)
        let event = try await scene.lastSignIn()
        #expect(event.reason == .secondFactor && event.explanation == "the record of the second factor is missing")
        #expect(scene.test.log.lines.contains { $0.contains("the second factor of a user is missing") })
        // The operator helps.
        #expect(try await scene.store.resetSecondFactor(of: scene.test.alice.id, recording: []))
        _ = try await scene.enterPassword(in: &browser).consentPage
    }

    @Test func `a passkey needs no code`() async throws {
        let scene = try await Scene()
        scene.requireOfEveryone()
        var browser = scene.test.browser()
        let page = try await browser.open("/sign-in")
        _ = try await browser.enter(
            scene.code,
            on: try await browser.signIn(on: page, username: "alice", password: TestServer.password))
        var passkey = TestPasskey()
        try await browser.add(&passkey)
        var other = scene.test.browser()
        _ = try await other.signIn(on: try await other.open(Attempt(scene.test).url), with: passkey).consentPage
    }

    @Test func `with another server key, no code is right and the operator is told`() async throws {
        let scene = try await Scene()
        let key = try #require(ServerKey(bytes: [UInt8](repeating: 99, count: 32)))
        let record = try #require(
            try await scene.store.secondFactors(notSealedBy: key.fingerprints[0], after: nil, limit: 9).first)
        try await scene.store.replaceSealedSecret(
            of: record, with: try key.seal(secondFactor: scene.app.secret.bytes, of: scene.test.alice.id),
            by: key.fingerprints[0])
        var browser = scene.test.browser()
        let refused = try await browser.enter(scene.code, on: try await scene.enterPassword(in: &browser))
        #expect(try refused.codePage.problem?.contains("Ask its operator") == true)
        #expect(scene.test.log.lines.contains { $0.contains("failed to decrypt the secret of a second factor") })
    }
}
