import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The removal of a password, and a new one for a user who has none.
struct AccountWaysInTests {
    private static let chosen = "a new one that nobody else has"

    /// A browser in which alice is signed in with a password, and her passkeys.
    private struct Scene {
        let test: TestServer
        let store: TestStore
        var browser: ScriptedUserAgent
        var passkeys = [TestPasskey(), TestPasskey()]

        init(passkeys count: Int = 2) async throws {
            store = TestStore()
            test = try await TestServer(store: store)
            browser = test.browser()
            try await browser.signInToConsole(username: "alice")
            for index in 0..<count { try await browser.add(&passkeys[index]) }
        }

        func user() async throws -> User { try #require(try await store.user(test.alice.id)) }

        mutating func remove(with password: String = TestServer.password) async throws -> Reply {
            let page = try await browser.open("/account/password").passwordPage
            let form = FormParameters(["ticket": page.ticket, "current_password": password, "decision": "remove"])
            return try await browser.send(.post, to: page.action, form: form)
        }

        mutating func add(_ password: String = AccountWaysInTests.chosen) async throws -> Reply {
            let page = try await browser.open("/account/password").passwordPage
            return try await browser.send(.post, to: page.action, form: page.adding(password))
        }

        func events() async throws -> [AuditEvent] {
            try await store.audit(AuditQuery(kind: .passwordChange)).map(\.event)
        }
    }

    @Test func `a removed password signs no user in, ends the other sessions, and a passkey still signs in`()
        async throws
    {
        var scene = try await Scene()
        var elsewhere = scene.test.browser()
        let attempt = Attempt(scene.test)
        let waiting = try await attempt.authorize(with: &elsewhere).code
        let page = try await scene.browser.open("/account/password").passwordPage
        #expect(page.hasPassword && page.canRemove)
        let reply = try await scene.remove()
        #expect(reply.status == .seeOther && reply.location == "/account?done=password-removed")
        #expect(try await scene.user().passwordHash == nil)
        #expect(try await scene.events().map(\.detail) == ["removed"])
        let account = try await scene.browser.open("/account?done=password-removed").accountPage
        #expect(account.notice?.hasPrefix("Your password is removed.") == true)
        #expect(try await elsewhere.open("/account").signInPage.problem == nil)
        #expect(try await scene.test.redeem(attempt.exchange(waiting)).tokenError.error == "invalid_grant")

        var again = scene.test.browser()
        let refused = try await again.signInToConsole(username: "alice")
        #expect(
            try refused.status == .badRequest && refused.signInPage.problem == "Wrong user name, email or password.")
        _ = try await again.signIn(on: try await again.open("/sign-in"), with: scene.passkeys[0])
        #expect(try await again.open("/account").accountPage.user.username == "alice")
    }

    @Test func `a password is removed only with two passkeys, and by one who knows it`() async throws {
        var scene = try await Scene(passkeys: 1)
        let page = try await scene.browser.open("/account/password").passwordPage
        #expect(!page.canRemove && page.passkeys == "/account/passkeys")
        let early = try await scene.remove()
        #expect(early.status == .badRequest)
        #expect(try early.passwordPage.problems.map(\.text).first?.contains("two passkeys") == true)
        #expect(try await scene.browser.open("/account/sessions").sessionsPage.rows.count == 1)
        try await scene.browser.add(&scene.passkeys[1])
        for password in ["", "not the password"] {
            #expect(try await scene.remove(with: password).status == .badRequest)
        }
        #expect(try await scene.user().passwordHash == scene.test.alice.passwordHash)
        #expect(try await scene.remove().status == .seeOther)
    }

    @Test func `without a password, the last passkey stays`() async throws {
        var scene = try await Scene()
        #expect(try await scene.remove().status == .seeOther)
        for isLast in [false, true] {
            let page = try await scene.browser.open("/account/passkeys").passkeysPage
            let row = try #require(page.rows.first)
            let form = FormParameters(["ticket": page.offer.ticket, "decision": "remove", "passkey": row.id])
            let reply = try await scene.browser.submit(form, to: page.offer.action)
            #expect(reply.status == (isLast ? .badRequest : .ok))
            #expect(try reply.passkeysPage.problems.isEmpty == !isLast)
        }
        #expect(try await scene.store.passkeys(of: scene.test.alice.id).count == 1)
    }

    @Test func `a password whose second factor is lost does not let the last passkey go`() async throws {
        var scene = try await Scene(passkeys: 1)
        _ = try await scene.test.setUpSecondFactor(in: &scene.browser)
        try await scene.store.database.engine.commit(ending: .none) { try $0.send("DELETE FROM second_factors") }
        #expect(try await scene.store.secondFactor(of: scene.test.alice.id) == .lost)
        let page = try await scene.browser.open("/account/passkeys").passkeysPage
        let row = try #require(page.rows.first)
        let form = FormParameters(["ticket": page.offer.ticket, "decision": "remove", "passkey": row.id])
        let reply = try await scene.browser.submit(form, to: page.offer.action)
        #expect(reply.status == .badRequest)
        #expect(try !reply.passkeysPage.problems.isEmpty)
        #expect(try await scene.store.passkeys(of: scene.test.alice.id).count == 1)
    }

    // The passkeys are of a time when the issuer had a domain.
    @Test func `where no passkey signs in, a password is not removed`() async throws {
        let test = try await TestServer(issuer: "https://192.0.2.7")
        for number: UInt8 in 1...2 {
            let passkey = Passkey.example(number, of: test.alice)
            #expect(try await test.store.addPasskey(passkey, recording: []) == .added)
        }
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open("/account/password").passwordPage
        #expect(page.hasPassword && !page.canRemove && page.passkeys == nil)
        let form = FormParameters([
            "ticket": page.ticket, "current_password": TestServer.password, "decision": "remove",
        ])
        #expect(try await browser.send(.post, to: page.action, form: form).status == .badRequest)
        #expect(try await test.store.user(test.alice.id)?.passwordHash != nil)
    }

    @Test func `a password is added again, within an hour of a sign-in`() async throws {
        var scene = try await Scene()
        #expect(try await scene.remove().status == .seeOther)
        let page = try await scene.browser.open("/account/password").passwordPage
        #expect(!page.hasPassword && !page.canRemove)
        scene.test.clock.advance(by: Double(scene.test.server.settings.recentSignInAge))
        #expect(try await scene.browser.open("/account/password").page is SignInPage)
        let late = try await scene.browser.send(.post, to: page.action, form: page.adding(Self.chosen))
        #expect(late.status == .seeOther && late.location?.contains("/sign-in?") == true)
        #expect(try await scene.user().passwordHash == nil)

        let signIn = try await scene.browser.open("/sign-in?to=/account/password")
        let shown = try await scene.browser.signIn(on: signIn, with: scene.passkeys[0])
        #expect(try !shown.passwordPage.hasPassword)
        for weak in ["", "password123", "alice@example.com"] {
            #expect(try await scene.add(weak).status == .badRequest)
        }
        let added = try await scene.add()
        #expect(added.location == "/account?done=password-added")
        #expect(try await scene.events().map(\.detail) == ["added", "removed"])
        var again = scene.test.browser()
        _ = try await again.signInToConsole(username: "alice", password: Self.chosen).accountPage
    }

    // A form from before the removal, and one from before the addition.
    @Test func `a form for another state of the account changes nothing`() async throws {
        var scene = try await Scene()
        let before = try await scene.browser.open("/account/password").passwordPage
        let adding = try await scene.browser.send(.post, to: before.action, form: before.adding(Self.chosen))
        #expect(adding.status == .badRequest)
        #expect(try await scene.user().passwordHash == scene.test.alice.passwordHash)
        #expect(try await scene.remove().status == .seeOther)
        let changing = try await scene.browser.send(
            .post, to: before.action, form: before.form(from: TestServer.password, to: Self.chosen))
        #expect(changing.status == .badRequest)
        #expect(try await scene.user().passwordHash == nil)
    }
}

extension PasswordPage {
    /// The fields of the form with which a user without a password chooses one.
    fileprivate func adding(_ password: String) -> FormParameters {
        FormParameters(["ticket": ticket, "username": username, "new_password": password, "decision": "add"])
    }
}
