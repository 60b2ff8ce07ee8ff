import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A security key as the only second factor, without an authenticator app.
struct SecurityKeyAloneTests {
    private static let newPassword = "a new one that nobody else has"

    /// A browser in which alice is signed in and has set up a security key.
    private struct Scene {
        let recorder = MailRecorder()
        let store = TestStore()
        let test: TestServer
        var browser: ScriptedUserAgent
        var key = TestPasskey.securityKey()
        let codes: [String]

        init() async throws {
            test = try await TestServer(store: store, mailSender: recorder)
            browser = test.browser()
            try await browser.signInToConsole(username: "alice")
            let page = try await browser.open("/account/second-factor").secondFactorPage
            let answer = try key.registration(for: try #require(page.keyOffer).options)
            let form = FormParameters(["ticket": page.ticket, "decision": "set-up-key", "passkey": answer])
            codes = try await browser.submit(form, to: page.action).secondFactorPage.codes
        }

        /// Opens the page and proves the second factor with the key.
        mutating func confirm() async throws -> SecondFactorPage {
            let page = try await browser.open("/account/second-factor").secondFactorPage
            return try await browser.submit(try confirmation(on: page), to: page.action).secondFactorPage
        }

        func confirmation(on page: SecondFactorPage) throws -> FormParameters {
            let answer = try key.assertion(for: try #require(page.confirmation).options)
            return FormParameters(["ticket": page.ticket, "decision": "confirm", "passkey": answer])
        }

        mutating func press(
            _ decision: String, on page: SecondFactorPage, _ fields: [String: String] = [:]
        ) async throws -> Reply {
            var form = FormParameters(["ticket": page.ticket, "decision": decision])
            form.append("proof", ifPresent: page.proof)
            for (name, value) in fields { form.append(name, value) }
            return try await browser.submit(form, to: page.action)
        }

        /// Enters the password in another browser, and returns the page that follows.
        func enterPassword(in browser: inout ScriptedUserAgent) async throws -> Reply {
            let page = try await browser.open("/sign-in")
            return try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        }

        func state() async throws -> SecondFactorState { try await store.secondFactor(of: test.alice.id) }
        func keys() async throws -> [Passkey] { try await store.securityKeys(of: test.alice.id) }
    }

    @Test func `the sign-in asks for the key or a recovery code, and for no code of an app`() async throws {
        let scene = try await Scene()
        #expect(scene.codes.count == RecoveryCode.count)
        guard case .active(let factor, _) = try await scene.state() else {
            Issue.record("the second factor is missing")
            return
        }
        #expect(!factor.hasApp)
        var other = scene.test.browser()
        let asked = try await scene.enterPassword(in: &other)
        #expect(try !asked.codePage.hasApp)
        let html = try asked.html()
        #expect(html.contains("Use your security key") && !html.contains(#"inputmode="numeric""#))
        #expect(try await other.enter("123456", on: asked).status == .badRequest)
        _ = try await other.use(scene.key, on: asked).accountPage
        let sessions = try await scene.store.sessions(of: scene.test.alice.id)
        #expect(sessions.contains { $0.methods == [.password, .securityKey] })
        var third = scene.test.browser()
        _ = try await third.enter(scene.codes[0], on: try await scene.enterPassword(in: &third)).accountPage
        let events = try await scene.store.audit(AuditQuery(kind: .secondFactor)).map(\.event.detail)
        #expect(events.contains("set up"))
    }

    @Test func `changes need a proof of the last ten minutes in the same session`() async throws {
        var scene = try await Scene()
        let locked = try await scene.browser.open("/account/second-factor").secondFactorPage
        #expect(locked.active?.isOpen == false && locked.proof == nil)
        #expect(try await scene.press("remove", on: locked).status == .badRequest)
        let confirmation = try scene.confirmation(on: locked)
        let open = try await scene.browser.submit(confirmation, to: locked.action).secondFactorPage
        #expect(open.active?.isOpen == true && open.proof != nil && open.confirmation == nil)
        // The answer of the key counts once.
        #expect(try await scene.browser.submit(confirmation, to: locked.action).status == .badRequest)
        // The proof belongs to alice, and to her session.
        _ = try await scene.test.addUser("bob")
        var bob = scene.test.browser(source: "192.0.2.9")
        try await bob.signInToConsole(username: "bob")
        let bobs = try await bob.open("/account/second-factor").secondFactorPage
        var stolen = FormParameters(["ticket": bobs.ticket, "decision": "remove"])
        stolen.append("proof", ifPresent: open.proof)
        #expect(try await bob.submit(stolen, to: bobs.action).status == .badRequest)
        scene.test.clock.advance(by: 601)
        #expect(try await scene.press("remove", on: open).status == .badRequest)
        #expect(try await scene.state() != .none)
        let again = try await scene.confirm()
        #expect(try await scene.press("remove", on: again).status == .ok)
        #expect(try await scene.state() == .none)
        #expect(try await scene.keys().isEmpty)
    }

    @Test func `a recovery code opens the page, too, and the last key stays`() async throws {
        var scene = try await Scene()
        let locked = try await scene.browser.open("/account/second-factor").secondFactorPage
        let open = try await scene.press("confirm", on: locked, ["current": scene.codes[0]]).secondFactorPage
        #expect(open.active?.codesLeft == RecoveryCode.count - 1)
        let kept = try await scene.press("remove-key", on: open, ["passkey": open.keys[0].id])
        #expect(kept.status == .badRequest)
        let page = try kept.secondFactorPage
        #expect(page.problems.map(\.text).first?.hasPrefix("This is your only security key.") == true)
        // The proof is kept, so a second key can be added, and then the first one removed.
        var second = TestPasskey.securityKey()
        let answer = try second.registration(for: try #require(page.keyOffer).options)
        #expect(try await scene.press("add-key", on: page, ["passkey": answer]).status == .ok)
        let confirmed = try await scene.confirm()
        _ = try await scene.press("remove-key", on: confirmed, ["passkey": open.keys[0].id])
        #expect(try await scene.keys().map(\.credentialID) == [second.credentialID])
        #expect(try await scene.press("confirm", on: locked, ["current": scene.codes[0]]).status == .badRequest)
    }

    @Test func `an app is added to the key, with other recovery codes`() async throws {
        var scene = try await Scene()
        let open = try await scene.confirm()
        let offer = try #require(open.offer)
        let app = try TestAuthenticator(offer)
        let reply = try await scene.press(
            "replace", on: open, ["setup": offer.setup, "code": scene.test.code(of: app)])
        let codes = try reply.secondFactorPage.codes
        #expect(codes.count == RecoveryCode.count && Set(codes).isDisjoint(with: scene.codes))
        #expect(try await scene.keys().count == 1)
        scene.test.clock.advance(by: 30)
        var other = scene.test.browser()
        let asked = try await scene.enterPassword(in: &other)
        #expect(try asked.codePage.hasApp && asked.codePage.keyOptions != nil)
        _ = try await other.enter(scene.test.code(of: app), on: asked).accountPage
        // From now on, a key can be removed, because the app is left.
        scene.test.clock.advance(by: 30)
        let page = try await scene.browser.open("/account/second-factor").secondFactorPage
        _ = try await scene.press(
            "remove-key", on: page, ["passkey": page.keys[0].id, "current": scene.test.code(of: app)])
        #expect(try await scene.keys().isEmpty)
    }

    @Test func `a lost key or a lost record never turns the second factor off`() async throws {
        let scene = try await Scene()
        try await scene.store.database.engine.commit(ending: .any) { try $0.send("DELETE FROM passkeys") }
        var other = scene.test.browser()
        let asked = try await scene.enterPassword(in: &other)
        #expect(try asked.codePage.keyOptions == nil && !asked.codePage.hasApp)
        #expect(try await other.enter("000000", on: asked).status == .badRequest)
        _ = try await other.enter(scene.codes[0], on: asked).accountPage
        try await scene.store.database.engine.commit(ending: .any) { try $0.send("DELETE FROM second_factors") }
        var third = scene.test.browser()
        #expect(try await scene.enterPassword(in: &third).status == .badRequest)
        #expect(try await scene.state() == .lost)
        #expect(try await scene.store.resetSecondFactor(of: scene.test.alice.id, recording: []))
        _ = try await scene.enterPassword(in: &third).accountPage
    }

    @Test func `where a second factor is required, a key alone satisfies the policy`() async throws {
        let test = try await TestServer { $0.secondFactor = .everyone }
        var browser = test.browser()
        let reply = try await browser.signIn(
            on: try await browser.open("/sign-in"), username: "alice", password: TestServer.password)
        let page = try reply.codeSetupPage
        func form(_ answer: String) -> FormParameters {
            FormParameters([
                "request": page.request, "ticket": page.ticket, "pending": page.pending, "setup": page.offer.setup,
                "passkey": answer,
            ])
        }
        var (key, foreign) = (TestPasskey.securityKey(), TestPasskey.securityKey())
        foreign.origin = "https://evil-id.example.com"
        let options = try #require(page.keyOptions)
        let refused = try await browser.submit(form(try foreign.registration(for: options)), to: page.action)
        #expect(refused.status == .badRequest)
        #expect(try refused.codeSetupPage.problem?.hasPrefix("The security key could not be verified.") == true)
        #expect(try await test.store.secondFactor(of: test.alice.id) == .none)
        let done = try await browser.submit(form(try key.registration(for: options)), to: page.action)
        #expect(try done.recoveryCodesPage.codes.count == RecoveryCode.count)
        #expect(try await test.store.sessions(of: test.alice.id).map(\.methods) == [[.password, .securityKey]])
        var other = test.browser()
        let asked = try await other.signIn(
            on: try await other.open("/sign-in"), username: "alice", password: TestServer.password)
        _ = try await other.use(key, on: asked).accountPage
        // It cannot be turned off.
        var account = try await other.open("/account/second-factor").secondFactorPage
        let answer = try key.assertion(for: try #require(account.confirmation).options)
        let confirm = FormParameters(["ticket": account.ticket, "decision": "confirm", "passkey": answer])
        account = try await other.submit(confirm, to: account.action).secondFactorPage
        var remove = FormParameters(["ticket": account.ticket, "decision": "remove"])
        remove.append("proof", ifPresent: account.proof)
        #expect(try await other.submit(remove, to: account.action).status == .badRequest)
        #expect(try await test.store.secondFactor(of: test.alice.id) != .none)
    }

    @Test func `the key proves the second factor before a new password`() async throws {
        let scene = try await Scene()
        // By a link in a mail.
        var other = scene.test.browser()
        let forgotten = try await other.forgetPassword(on: try await other.open("/sign-in"))
        _ = try await other.askForLink("alice", on: forgotten)
        await (try #require(scene.test.server.mailDelivery)).deliverDue()
        let link = try #require(scene.recorder.mails.last?.linkPath(at: scene.test.issuer))
        let page = try await other.open(link).newPasswordPage
        #expect(page.asksForCode && !page.hasApp && page.passkeyOptions == nil)
        func form(_ answer: String) -> FormParameters {
            var form = page.form(Self.newPassword)
            form.append("passkey", answer)
            return form
        }
        let foreign = try TestPasskey.securityKey().assertion(for: try #require(page.keyOptions))
        #expect(try await other.submit(form(foreign), to: page.action).status == .badRequest)
        let answer = try scene.key.assertion(for: try #require(page.keyOptions))
        _ = try await other.submit(form(answer), to: page.action).accountPage
        let methods = try await scene.store.sessions(of: scene.test.alice.id).map(\.methods)
        #expect(methods == [[.password, .securityKey]])

        // At the next sign-in, if an operator asks for it.
        let alice = try #require(try await scene.store.user(scene.test.alice.id))
        let reset = PasswordReset(
            of: alice, by: .operator(isTemporary: true), to: .password(try #require(alice.passwordHash)))
        #expect(try await scene.store.resetPassword(reset, at: scene.test.clock.now, recording: []) == .reset)
        var third = scene.test.browser()
        let asked = try await third.signIn(
            on: try await third.open("/sign-in"), username: "alice", password: Self.newPassword)
        let proved = try await third.use(scene.key, on: asked)
        _ = try await third.setPassword("another one of many words", on: proved).accountPage
        #expect(
            try await scene.store.sessions(of: alice.id).map(\.methods) == [[.password, .securityKey]])
    }

    // WebAuthn §5.4, `excludeCredentials`
    @Test func `a security key of the user is asked for no passkey, in the account and after a sign-in`() async throws {
        var scene = try await Scene()
        let known = Base64URL.encode(scene.key.credentialID)
        let page = try await scene.browser.open("/account/passkeys").passkeysPage
        #expect(page.offer.options.contains(known))
        var other = scene.test.browser()
        let code = try await other.signInWherePasskeysWork(on: try await other.open("/sign-in"))
        let offer = try await other.use(scene.key, on: code).passkeyOfferPage
        #expect(offer.options.contains(known) && offer.upgradeOptions.contains(known))
    }
}
