import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The second factor of a user on the page of the account.
struct AccountSecondFactorTests {
    private static let path = "/account/second-factor"

    private static func signedIn(_ test: TestServer) async throws -> ScriptedUserAgent {
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        return browser
    }

    private static func send(
        _ fields: [String: String], in browser: inout ScriptedUserAgent
    ) async throws -> Reply {
        let page = try await browser.open(path).secondFactorPage
        var form = FormParameters(["ticket": page.ticket])
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        return try await browser.submit(form, to: page.action)
    }

    private static func events(_ test: TestServer) async throws -> [AuditEvent] {
        try await test.store.audit(AuditQuery(kind: .secondFactor)).map(\.event)
    }

    @Test func `a user sets up a second factor, and sees the recovery codes once`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let reply = try await browser.open(Self.path)
        let page = try reply.secondFactorPage
        let offer = try #require(page.offer)
        #expect(page.active == nil && page.codes.isEmpty && !page.isLost && !page.isOff)
        let html = try reply.html()
        #expect(html.contains(offer.secret) && html.contains("otpauth://totp/Example%20Photos:alice?secret="))
        // libqrencode may be missing.
        #expect(html.contains("<svg class=\"qr\"") == (offer.image != nil))
        #expect(try await test.store.secondFactor(of: test.alice.id) == .none)

        let (_, codes) = try await test.setUpSecondFactor(in: &browser)
        #expect(codes.count == RecoveryCode.count && Set(codes).count == codes.count)
        let later = try await browser.open(Self.path)
        let active = try #require(try later.secondFactorPage.active)
        #expect(active.codesLeft == RecoveryCode.count && !active.isRequired)
        for code in codes { #expect(try !later.html().contains(code)) }
        #expect(try await Self.events(test).map(\.detail) == ["set up"])
    }

    @Test func `a setup ends the other sessions, and the page says so`() async throws {
        let test = try await TestServer()
        var (browser, other) = (try await Self.signedIn(test), try await Self.signedIn(test))
        let offer = try #require(try await browser.open(Self.path).secondFactorPage.offer)
        let code = test.code(of: try TestAuthenticator(offer))
        let done = try await Self.send(["decision": "set-up", "setup": offer.setup, "code": code], in: &browser)
        #expect(try done.secondFactorPage.notice?.hasPrefix("You are signed out in all other browsers") == true)
        #expect(try await other.open("/account").page is SignInPage)
        #expect(try await browser.open("/account").page is AccountPage)
    }

    @Test func `nothing counts before a code of the new app`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let offer = try #require(try await browser.open(Self.path).secondFactorPage.offer)
        let app = try TestAuthenticator(offer)
        for code in ["", "12345", app.wrongCode(at: test.clock.wall)] {
            let reply = try await Self.send(
                ["decision": "set-up", "setup": offer.setup, "code": code], in: &browser)
            #expect(reply.status == .badRequest)
            let page = try reply.secondFactorPage
            // The key stays, because it is already in the app.
            #expect(page.offer?.secret == offer.secret && page.problems.map(\.field) == ["code"])
        }
        #expect(try await test.store.secondFactor(of: test.alice.id) == .none)
        for setup in ["", "AAAA", String(offer.setup.dropLast())] {
            let code = test.code(of: app)
            let reply = try await Self.send(["decision": "set-up", "setup": setup, "code": code], in: &browser)
            #expect(reply.status == .badRequest)
        }
        #expect(try await test.store.secondFactor(of: test.alice.id) == .none)
        // Nor for another user.
        _ = try await test.addUser("bob")
        var bobs = test.browser()
        try await bobs.signInToConsole(username: "bob")
        let stolen = try await Self.send(
            ["decision": "set-up", "setup": offer.setup, "code": test.code(of: app)], in: &bobs)
        #expect(stolen.status == .badRequest)
    }

    @Test func `new recovery codes replace the old ones, and need a code`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let (app, codes) = try await test.setUpSecondFactor(in: &browser)
        let wrong = app.wrongCode(at: test.clock.wall)
        let refused = try await Self.send(["decision": "recovery-codes", "current": wrong], in: &browser)
        #expect(refused.status == .badRequest)
        #expect(try refused.secondFactorPage.problems.map(\.field) == ["current"])
        let reply = try await Self.send(
            ["decision": "recovery-codes", "current": test.code(of: app)], in: &browser)
        let others = try reply.secondFactorPage.codes
        #expect(others.count == RecoveryCode.count && Set(others).isDisjoint(with: codes))
        let old = try await Self.send(["decision": "remove", "current": codes[0]], in: &browser)
        #expect(old.status == .badRequest)
        let done = try await Self.send(["decision": "remove", "current": others[0]], in: &browser)
        #expect(try done.secondFactorPage.notice == "Two-step sign-in is off.")
        #expect(try await test.store.secondFactor(of: test.alice.id) == .none)
        let details = try await Self.events(test).filter { $0.outcome == .done }.map(\.detail)
        #expect(details == ["turned off", "new recovery codes", "set up"])
    }

    @Test func `another app replaces the present one, with a code of each`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let (app, codes) = try await test.setUpSecondFactor(in: &browser)
        let offer = try #require(try await browser.open(Self.path).secondFactorPage.offer)
        let other = try TestAuthenticator(offer)
        var form = [
            "decision": "replace", "setup": offer.setup, "code": test.code(of: other),
            "current": other.code(at: test.clock.wall),
        ]
        #expect(try await Self.send(form, in: &browser).status == .badRequest)
        form["current"] = test.code(of: app)
        let others = try await Self.send(form, in: &browser).secondFactorPage.codes
        #expect(others.count == RecoveryCode.count && Set(others).isDisjoint(with: codes))
        test.clock.advance(by: 30)
        // The former app and its recovery codes are worth nothing.
        for code in [test.code(of: app), codes[0]] {
            let refused = try await Self.send(["decision": "remove", "current": code], in: &browser)
            #expect(refused.status == .badRequest)
        }
        let done = try await Self.send(["decision": "remove", "current": test.code(of: other)], in: &browser)
        #expect(try done.secondFactorPage.active == nil)
    }

    @Test func `wrong codes count with those of the sign-in`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let (app, _) = try await test.setUpSecondFactor(in: &browser)
        for _ in 0..<5 {
            let wrong = app.wrongCode(at: test.clock.wall)
            #expect(try await Self.send(["decision": "remove", "current": wrong], in: &browser).status == .badRequest)
        }
        let refused = try await Self.send(["decision": "remove", "current": test.code(of: app)], in: &browser)
        #expect(refused.status == .tooManyRequests)
        var other = test.browser()
        let page = try await other.open("/sign-in")
        let asked = try await other.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try await other.enter(test.code(of: app), on: asked).status == .tooManyRequests)
    }

    @Test func `where it is required, it cannot be turned off`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let (app, _) = try await test.setUpSecondFactor(in: &browser)
        var settings = test.server.settings
        settings.secondFactor = .everyone
        test.server.replaceSettings(by: settings)
        let page = try await browser.open(Self.path)
        #expect(try page.secondFactorPage.active?.isRequired == true)
        #expect(try !page.html().contains("value=\"remove\""))
        let refused = try await Self.send(["decision": "remove", "current": test.code(of: app)], in: &browser)
        #expect(refused.status == .badRequest)
        #expect(try refused.secondFactorPage.active != nil)
    }

    @Test func `where it is off, it is not offered, and an existing one can be turned off`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let (app, _) = try await test.setUpSecondFactor(in: &browser)
        var settings = test.server.settings
        settings.secondFactor = .off
        test.server.replaceSettings(by: settings)
        #expect(try await browser.open("/account").html().contains(Self.path))
        _ = try await Self.send(["decision": "remove", "current": test.code(of: app)], in: &browser)
        #expect(try await !browser.open("/account").html().contains(Self.path))
        let page = try await browser.open(Self.path).secondFactorPage
        #expect(page.isOff && page.offer == nil)
    }

    // A stolen session cookie does not suffice for a lasting way in.
    @Test func `the page needs a recent sign-in`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        test.clock.advance(by: TimeInterval(test.server.settings.recentSignInAge))
        #expect(try await browser.open(Self.path).signInPage.notice != nil)
    }

    // The password alone proves neither the code nor a new sign-in.
    @Test func `a new password keeps the methods and the time of the sign-in`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let (app, _) = try await test.setUpSecondFactor(in: &browser)
        var other = test.browser()
        let page = try await other.open("/sign-in")
        let asked = try await other.signIn(on: page, username: "alice", password: TestServer.password)
        _ = try await other.enter(test.code(of: app), on: asked)
        let former = try #require(try await test.store.sessions(of: test.alice.id).first { $0.methods != [.password] })
        test.clock.advance(by: 600)
        let change = try await other.open("/account/password").passwordPage
        let form = FormParameters([
            "ticket": change.ticket, "current_password": TestServer.password,
            "new_password": "purple lighthouse orchestra 47",
        ])
        _ = try await other.submit(form, to: change.action).accountPage
        let sessions = try await test.store.sessions(of: test.alice.id)
        #expect(sessions.map(\.methods) == [[.password, .code]])
        #expect(sessions.map(\.authenticatedAt) == [former.authenticatedAt] && sessions.map(\.id) == [former.id])
        test.clock.advance(by: TimeInterval(test.server.settings.recentSignInAge) - 600)
        #expect(try await other.open(Self.path).signInPage.notice != nil)
    }
}
