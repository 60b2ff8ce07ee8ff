import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A password that the user must change at the next sign-in.
struct NewPasswordTests {
    private static let newPassword = "a new one that nobody else has"

    private static func demandNewPassword(of user: User, in store: TestStore) async throws {
        let hash = try #require(user.passwordHash)
        let reset = PasswordReset(of: user, by: .operator(isTemporary: true), to: hash)
        #expect(try await store.resetPassword(reset, at: World.now, recording: []) == .reset)
    }

    private static func enterPassword(
        _ test: TestServer, in browser: inout ScriptedUserAgent, _ password: String = TestServer.password
    ) async throws -> Reply {
        let page = try await browser.open(Attempt(test).with("prompt", "login").url)
        return try await browser.signIn(on: page, username: "alice", password: password, stayingSignedIn: true)
    }

    @Test func `the sign-in asks for a new password before the session`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        try await Self.demandNewPassword(of: test.alice, in: store)
        var browser = test.browser()
        let reply = try await Self.enterPassword(test, in: &browser)
        let page = try reply.newPasswordPage
        #expect(reply.status == .ok && page.problem == nil && !page.asksForCode)
        #expect(browser.cookies["__Host-counterfoil-session"] == nil)
        let weak = try await browser.setPassword("short", on: reply)
        #expect(weak.status == .badRequest)
        #expect(try weak.newPasswordPage.problem != nil)
        let same = try await browser.setPassword(TestServer.password, on: weak)
        #expect(same.status == .badRequest)
        #expect(try same.newPasswordPage.problem == "This is your present password. Choose another.")
        _ = try await browser.setPassword(Self.newPassword, on: same).consentPage
        #expect(try await store.sessions(of: test.alice.id).map(\.isPersistent) == [true])
        #expect(try await store.user(test.alice.id)?.mustChangePassword == false)
        // The page counts once.
        let again = try await browser.setPassword("another one of many words", on: reply)
        #expect(again.status == .badRequest)
        var other = test.browser()
        _ = try await Self.enterPassword(test, in: &other, Self.newPassword).consentPage
    }

    @Test func `the code of the second factor comes first, and counts once`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let (app, codes) = try await test.setUpSecondFactor(in: &browser)
        var password = TestServer.password
        for (code, next) in [(test.code(of: app), Self.newPassword), (codes[0], "another one of many words")] {
            let alice = try #require(try await store.user(test.alice.id))
            try await Self.demandNewPassword(of: alice, in: store)
            let asked = try await Self.enterPassword(test, in: &browser, password)
            let page = try await browser.enter(code, on: asked)
            #expect(try page.newPasswordPage.problem == nil)
            _ = try await browser.setPassword(next, on: page).consentPage
            password = next
            let method: AuthenticationMethod = code == codes[0] ? .recoveryCode : .code
            #expect(try await store.sessions(of: alice.id).map(\.methods) == [[.password, method]])
            let event = try await store.audit(AuditQuery(kind: .signIn, outcome: .done, limit: 1)).first?.event
            #expect(event?.detail == (method == .code ? "after a new password" : "second factor: recovery code"))
        }
        let asked = try await Self.enterPassword(test, in: &browser, password)
        #expect(try await browser.enter(codes[0], on: asked).status == .badRequest)
    }

    @Test func `a remembered browser does not replace the code`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let (app, _) = try await test.setUpSecondFactor(in: &browser)
        let asked = try await Self.enterPassword(test, in: &browser)
        _ = try await browser.enter(test.code(of: app), on: asked, remembering: true)
        test.clock.advance(by: 30)
        try await Self.demandNewPassword(of: test.alice, in: store)
        _ = try await Self.enterPassword(test, in: &browser).codePage
    }

    @Test func `the page holds for its browser and ten minutes`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        try await Self.demandNewPassword(of: test.alice, in: store)
        var browser = test.browser()
        let reply = try await Self.enterPassword(test, in: &browser)
        let page = try reply.newPasswordPage
        var other = test.browser()
        let foreign = try await other.open(Attempt(test).url).signInPage
        var form = page.form(Self.newPassword).setting("ticket", to: foreign.ticket)
        form = form.setting("request", to: foreign.request)
        #expect(try await other.send(.post, to: page.action, form: form).page is NewPasswordPage == false)
        test.clock.advance(by: 601)
        #expect(try await browser.setPassword(Self.newPassword, on: reply).page is SignInPage)
        #expect(try await store.user(test.alice.id)?.mustChangePassword == true)
    }

    @Test func `the old password confirms nothing, and a passkey signs in`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        var passkey = TestPasskey()
        try await browser.add(&passkey)
        try await Self.demandNewPassword(of: test.alice, in: store)
        let page = try await browser.open("/sign-in")
        _ = try await browser.signIn(on: page, with: passkey).accountPage
        let change = try #require(try await browser.open("/account/password").page as? PasswordPage)
        let form = FormParameters([
            "ticket": change.ticket, PasswordPage.currentField: TestServer.password,
            PasswordPage.newField: Self.newPassword,
        ])
        let refused = try await browser.send(.post, to: change.action, form: form)
        #expect(refused.status == .badRequest && refused.page is PasswordPage)
        let event = try await store.audit(AuditQuery(kind: .passwordChange, limit: 1)).first?.event
        #expect(event?.reason == .newPasswordNeeded && event?.userID == test.alice.id)
        #expect(try await store.user(test.alice.id)?.mustChangePassword == true)
    }
}
