import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The way back into an account by a link, in a mail or from an operator.
struct RecoveryLinkTests {
    static let newPassword = "a new one that nobody else has"

    /// A server with mail, and a browser in which alice has forgotten the password.
    fileprivate struct Scene {
        let store = TestStore()
        let recorder = MailRecorder()
        let test: TestServer
        var browser: ScriptedUserAgent

        init(_ configure: (inout ServerSettings) -> Void = { _ in }) async throws {
            test = try await TestServer(store: store, mailSender: recorder, configure: configure)
            browser = test.browser()
        }

        /// Asks for a link at a sign-in page, and returns its path and query.
        mutating func ask(
            _ name: String = "alice", from address: String = "/sign-in"
        ) async throws -> String {
            let page = try await browser.forgetPassword(on: try await browser.open(address))
            let reply = try await browser.askForLink(name, on: page)
            #expect(reply.status == .ok && reply.page is RecoverySentPage)
            await (try #require(test.server.mailDelivery)).deliverDue()
            return try #require(recorder.mails.last?.linkPath(at: test.issuer))
        }

        func signsIn(with password: String) async throws -> Bool {
            var browser = test.browser(source: "198.51.100.7")
            let page = try await browser.open("/sign-in")
            return try await browser.signIn(on: page, username: "alice", password: password).page is AccountPage
        }

        func lastEvent(_ kind: AuditEvent.Kind) async throws -> AuditEvent {
            try #require(try await store.audit(AuditQuery(kind: kind, limit: 1)).first?.event)
        }
    }

    @Test func `a user who has only the mailbox is back within two pages, and every other session has ended`()
        async throws
    {
        var scene = try await Scene()
        var elsewhere = scene.test.browser(source: "198.51.100.1")
        try await elsewhere.signInToConsole(username: "alice")
        let link = try await scene.ask("ALICE@example.com ", from: Attempt(scene.test).url)
        let mail = try #require(scene.recorder.mails.last)
        #expect(mail.recipient.rawValue == "alice@example.com")
        #expect(mail.page.subject == "Choose a new password for Example Photos")
        #expect(mail.page.closing.contains("30 minutes"))
        #expect(!mail.page.plainText.contains("Alice"))
        let page = try await scene.browser.open(link)
        #expect(try page.newPasswordPage.userDisplayName == "Alice" && !page.newPasswordPage.asksForCode)
        // The script only offers a passkey.
        #expect(try page.html().contains("data-with-passkey hidden"))
        let after = try await scene.browser.setPassword(Self.newPassword, on: page)
        // The request of the app continues.
        #expect(try after.consentPage.userDisplayName == "Alice")
        let sessions = try await scene.store.sessions(of: scene.test.alice.id)
        #expect(sessions.map(\.methods) == [[.password]])
        #expect(try await elsewhere.open("/account").page is SignInPage)
        #expect(try await scene.signsIn(with: Self.newPassword))
        #expect(try await !scene.signsIn(with: TestServer.password))
        // The mail has arrived, so the address is verified.
        #expect(try await scene.store.user(scene.test.alice.id)?.profile.isEmailVerified == true)
        #expect(try await scene.lastEvent(.passwordChange).detail == "by a link in a mail, ended all sessions")
        let asked = try await scene.store.audit(AuditQuery(kind: .account)).map(\.event)
        #expect(asked.contains { $0.detail == "sent a link for a new password" && $0.userID == scene.test.alice.id })
    }

    @Test func `a link from a mail adds a passkey in place of the password, and the request of the app continues`()
        async throws
    {
        var scene = try await Scene()
        let link = try await scene.ask(from: Attempt(scene.test).url)
        let page = try await scene.browser.open(link).newPasswordPage
        var passkey = TestPasskey()
        let answer = try passkey.registration(for: try #require(page.passkeyOptions))
        let after = try await scene.browser.submit(page.form("").setting("passkey", to: answer), to: page.action)
        #expect(try after.consentPage.userDisplayName == "Alice")
        #expect(try await scene.store.sessions(of: scene.test.alice.id).map(\.methods) == [[.passkey]])
        #expect(try await scene.store.passkeys(of: scene.test.alice.id).count == 1)
        #expect(try await !scene.signsIn(with: TestServer.password))
        #expect(try await scene.browser.open(link).status == .notFound)
    }

    // Chromium would block a redirect to the app that follows the form (CSP `form-action`).
    @Test func `the app gets its code in the answer to the form`() async throws {
        var scene = try await Scene()
        var policy = ClientPolicy.standard(for: .web)
        policy.isVouchedFor = true
        policy.requiresState = false
        let app = "https://darkroom.example/cb"
        let client = try await scene.test.register("Darkroom", type: .web, redirectURIs: [app], policy: policy)
        let attempt = Attempt(scene.test, by: client, at: app, for: "openid photos.read")
        var elsewhere = scene.test.browser(source: "198.51.100.1")
        _ = try await attempt.authorize(with: &elsewhere)
        let link = try await scene.ask(from: attempt.url)
        let page = try await scene.browser.open(link).newPasswordPage
        let reply = try await scene.browser.send(.post, to: page.action, form: page.form(Self.newPassword))
        #expect(reply.status == .ok)
        #expect(try reply.goOnPage.destination.hasPrefix(app))
        #expect(try reply.code.exposed.utf8.count == 43)
        #expect(scene.browser.cookies["__Host-counterfoil-session"] != nil)
    }

    /// The sign-in pages from which a user comes.
    enum Door: CaseIterable {
        case authorization, console, device

        fileprivate func open(_ browser: inout ScriptedUserAgent, at test: TestServer) async throws -> Reply {
            switch self {
            // The client asks for a new sign-in, which the new password is.
            case .authorization: try await browser.open(Attempt(test).with("prompt", "login").url)
            case .console: try await browser.open("/account/password")
            case .device: try await browser.type(userCode: try await TestDevice(test).codes().userCode)
            }
        }
    }

    @Test(arguments: Door.allCases)
    func `the sign-in continues where the user wanted to go`(door: Door) async throws {
        var scene = try await Scene()
        let signIn = try await door.open(&scene.browser, at: scene.test)
        let page = try await scene.browser.forgetPassword(on: signIn)
        _ = try await scene.browser.askForLink("alice", on: page)
        await (try #require(scene.test.server.mailDelivery)).deliverDue()
        let link = try #require(scene.recorder.mails.last?.linkPath(at: scene.test.issuer))
        let after = try await scene.browser.setPassword(Self.newPassword, on: try await scene.browser.open(link))
        switch door {
        case .authorization, .device: _ = try after.consentPage
        case .console: #expect(after.page is PasswordPage)
        }
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example/", "/oauth2/logout?x=y", "/sign-in?to=https://evil.example/",
        "/recover?token=x", "/device?user_code=%0d%0aSet-Cookie:x", "javascript:alert(1)", "",
    ])
    func `no destination leads out of the pages of a sign-in`(destination: String) async throws {
        let scene = try await Scene()
        var browser = scene.browser
        let form = FormParameters(["decision": "begin", "destination": destination])
        let page = try await browser.submit(form, to: "/recover")
        _ = try await browser.askForLink("alice", on: page)
        await (try #require(scene.test.server.mailDelivery)).deliverDue()
        let link = try #require(scene.recorder.mails.last?.linkPath(at: scene.test.issuer))
        let shown = try await browser.open(link).newPasswordPage
        let reply = try await browser.send(.post, to: shown.action, form: shown.form(Self.newPassword))
        #expect(reply.status == .seeOther)
        let location = try #require(reply.location)
        #expect(location.hasPrefix("/") && !location.hasPrefix("//") && !location.contains("\r"))
        #expect(try await browser.open(location).page is AccountPage)
    }

    // Mail programs and virus scanners open links.
    @Test func `opening a link changes nothing, however often and from where`() async throws {
        var scene = try await Scene()
        let link = try await scene.ask()
        var scanner = scene.test.browser(source: "203.0.113.80")
        for _ in 0..<3 {
            #expect(try await scanner.send(.get, to: link).status == .forbidden)
            #expect(try await scanner.send(.head, to: link).status == .methodNotAllowed)
            _ = try await scene.browser.open(link).newPasswordPage
        }
        #expect(try await scene.store.user(scene.test.alice.id)?.passwordHash == scene.test.alice.passwordHash)
        _ = try await scene.browser.setPassword(Self.newPassword, on: try await scene.browser.open(link)).accountPage
    }

    @Test func `a link from a mail works only in the browser that asked for it`() async throws {
        var scene = try await Scene()
        let link = try await scene.ask()
        var other = scene.test.browser()
        let refused = try await other.open(link)
        #expect(refused.status == .forbidden)
        let problem = try #require(refused.page as? ProblemPage)
        #expect(problem.title == "Open this link in the other browser" && problem.continueLink?.address == "/recover")
        #expect(try await scene.lastEvent(.browserRequest).reason == .userLink)
        // The form of the right browser is worth nothing in another one.
        let page = try await scene.browser.open(link).newPasswordPage
        let posted = try await other.send(.post, to: page.action, form: page.form(Self.newPassword))
        #expect(posted.status == .badRequest || posted.status == .forbidden)
        #expect(try await !scene.signsIn(with: Self.newPassword))
    }

    // Anyone can ask for a mail to the user.
    @Test func `the request of a stranger does not end the link of the user`() async throws {
        var scene = try await Scene()
        let link = try await scene.ask()
        var stranger = scene.test.browser(source: "203.0.113.9")
        let asked = try await stranger.askForLink("alice", on: try await stranger.open("/recover"))
        #expect(asked.page is RecoverySentPage)
        await (try #require(scene.test.server.mailDelivery)).deliverDue()
        #expect(scene.recorder.mails.count == 2)
        _ = try await scene.browser.setPassword(Self.newPassword, on: try await scene.browser.open(link)).accountPage
        // The other link has ended with the new password.
        let other = try #require(scene.recorder.mails.last?.linkPath(at: scene.test.issuer))
        #expect(other != link)
        #expect(try await stranger.open(other).status == .notFound)
    }

    @Test func `a link works once, in two tabs`() async throws {
        var scene = try await Scene()
        let link = try await scene.ask()
        let (first, second) = (try await scene.browser.open(link), try await scene.browser.open(link))
        _ = try await scene.browser.setPassword(Self.newPassword, on: first).accountPage
        let refused = try await scene.browser.setPassword("another one of many words", on: second)
        #expect(refused.status == .notFound && (refused.page as? ProblemPage)?.title == "This link no longer works")
        #expect(try await scene.browser.open(link).status == .notFound)
        #expect(try await scene.signsIn(with: Self.newPassword))
    }

    @Test func `of two forms with one link at once, one sets the password`() async throws {
        var scene = try await Scene()
        let link = try await scene.ask()
        let page = try await scene.browser.open(link).newPasswordPage
        let browser = scene.browser
        let signedIn = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<4 {
                group.addTask {
                    var tab = browser
                    let form = page.form("\(Self.newPassword) \(number)")
                    return try await tab.send(.post, to: page.action, form: form).status == .seeOther
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(signedIn == 1)
        #expect(try await scene.store.sessions(of: scene.test.alice.id).count == 1)
    }

    /// The changes after which a link does not work.
    enum Change: CaseIterable {
        case expired, replaced, address, password, disabled
    }

    @Test(arguments: Change.allCases)
    func `a link ends after 30 minutes, with a newer one, and with a change of the account`(
        change: Change
    ) async throws {
        var scene = try await Scene()
        let link = try await scene.ask()
        let page = try await scene.browser.open(link)
        var alice = scene.test.alice
        switch change {
        case .expired: scene.test.clock.advance(by: 30 * 60)
        case .replaced: _ = try await scene.ask()
        case .address:
            alice.email = EmailAddress("new@example.com")
            #expect(try await scene.store.updateUser(alice, at: scene.test.clock.now, recording: []) == .updated)
        case .password:
            let changed = try await scene.store.changePassword(
                of: alice.id, from: alice.passwordHash, to: .other, keeping: nil, at: scene.test.clock.now,
                recording: [])
            #expect(changed == .changed)
        case .disabled: try await scene.store.disableUser(alice.id, at: scene.test.clock.now, recording: [])
        }
        #expect(try await scene.browser.open(link).status == .notFound)
        let refused = try await scene.browser.setPassword(Self.newPassword, on: page)
        // The form of a page that was open for half an hour has expired, too.
        #expect(refused.status == .notFound || change == .expired && refused.status == .badRequest)
        #expect(try await !scene.signsIn(with: Self.newPassword))
    }

    @Test(arguments: ["x", String(repeating: "a", count: 4000), "%00", "../../etc", "а"])
    func `a malformed token opens nothing`(token: String) async throws {
        let scene = try await Scene()
        var browser = scene.browser
        let query = FormParameters(["token": token]).encoded
        let reply = try await browser.open("/recover?" + query)
        #expect(reply.status == .notFound)
    }

    @Test(arguments: ["short", "alice", "password1"])
    func `a password that is easy to guess is refused, and the link stays`(password: String) async throws {
        var scene = try await Scene()
        let link = try await scene.ask()
        let again = try await scene.browser.setPassword(password, on: try await scene.browser.open(link))
        #expect(again.status == .badRequest)
        #expect(try again.newPasswordPage.problem != nil)
        _ = try await scene.browser.setPassword(Self.newPassword, on: again).accountPage
    }

    @Test func `a link asks for the second factor, and counts wrong codes`() async throws {
        var scene = try await Scene()
        var browser = scene.test.browser(source: "198.51.100.1")
        try await browser.signInToConsole(username: "alice")
        let (app, codes) = try await scene.test.setUpSecondFactor(in: &browser)
        let link = try await scene.ask()
        var page = try await scene.browser.open(link)
        #expect(try page.newPasswordPage.asksForCode && page.html().contains(#"autocomplete="one-time-code""#))
        let none = try await scene.browser.setPassword(Self.newPassword, on: page)
        #expect(none.status == .badRequest)
        for _ in 0..<5 {
            page = try await scene.browser.setPassword(
                Self.newPassword, code: app.wrongCode(at: scene.test.clock.wall), on: page)
        }
        #expect(page.status == .badRequest)
        page = try await scene.browser.setPassword(Self.newPassword, code: scene.test.code(of: app), on: page)
        #expect(page.status == .tooManyRequests && page.fields[.retryAfter] != nil)
        #expect(try await !scene.signsIn(with: Self.newPassword))
        let after = try await scene.browser.setPassword(Self.newPassword, code: codes[0], on: page)
        _ = try after.accountPage
        let sessions = try await scene.store.sessions(of: scene.test.alice.id)
        #expect(sessions.map(\.methods) == [[.password, .recoveryCode]])
        #expect(try await scene.lastEvent(.signIn).detail == "second factor: recovery code")
    }

    @Test func `a lost second factor lets no link in`() async throws {
        var scene = try await Scene()
        var browser = scene.test.browser(source: "198.51.100.1")
        try await browser.signInToConsole(username: "alice")
        let (_, codes) = try await scene.test.setUpSecondFactor(in: &browser)
        try await scene.store.database.engine.commit(ending: .none) { try $0.send("DELETE FROM second_factors") }
        let link = try await scene.ask()
        let page = try await scene.browser.open(link)
        #expect(try page.newPasswordPage.asksForCode)
        for code in [nil, codes[0]] {
            let refused = try await scene.browser.setPassword(Self.newPassword, code: code, on: page)
            #expect(refused.status == .badRequest)
            #expect(try refused.newPasswordPage.problem?.contains("cannot check your code") == true)
        }
        #expect(try await !scene.signsIn(with: Self.newPassword))
    }

    @Test func `a user who must have a second factor sets it up after the new password`() async throws {
        var scene = try await Scene { $0.secondFactor = .everyone }
        let link = try await scene.ask()
        let reply = try await scene.browser.setPassword(Self.newPassword, on: try await scene.browser.open(link))
        let page = try reply.codeSetupPage
        #expect(try await scene.store.sessions(of: scene.test.alice.id).isEmpty)
        let app = try TestAuthenticator(page.offer)
        let form = FormParameters([
            "request": page.request, "ticket": page.ticket, "pending": page.pending, "setup": page.offer.setup,
            "code": scene.test.code(of: app),
        ])
        let codes = try await scene.browser.submit(form, to: page.action).recoveryCodesPage
        #expect(codes.codes.count == RecoveryCode.count)
        _ = try await scene.browser.open(codes.next).accountPage
    }

    // MARK: - Operators

    @Test func `the link of an operator works once in any browser, without mail`() async throws {
        let test = try await TestServer { $0.secondFactor = .off }
        var elsewhere = test.browser(source: "198.51.100.1")
        try await elsewhere.signInToConsole(username: "alice")
        let link = try await test.operatorLink(for: test.alice)
        var browser = test.browser()
        _ = try await browser.setPassword(Self.newPassword, on: try await browser.open(link)).accountPage
        #expect(try await elsewhere.open("/account").page is SignInPage)
        #expect(try await browser.open(link).status == .notFound)
        // An address that no mail has reached is not verified.
        #expect(try await test.store.user(test.alice.id)?.profile.isEmailVerified != true)
        let event = try await test.store.audit(AuditQuery(kind: .passwordChange, limit: 1)).first?.event
        #expect(event?.detail == "by a link of an operator, ended all sessions")
    }

    @Test func `the link of an operator ends with its time`() async throws {
        let test = try await TestServer()
        let link = try await test.operatorLink(for: test.alice, lifetime: 3600)
        var browser = test.browser()
        test.clock.advance(by: 3600)
        #expect(try await browser.open(link).status == .notFound)
    }

    // An attacker would sign the browser of another user in to an account of the attacker.
    @Test func `a form with a link of another page is refused`() async throws {
        let test = try await TestServer()
        let link = try await test.operatorLink(for: test.alice)
        var attacker = test.browser()
        let page = try await attacker.open(link).newPasswordPage
        var victim = test.browser()
        let refused = try await victim.send(.post, to: page.action, form: page.form(Self.newPassword))
        #expect(refused.status == .badRequest)
        #expect(victim.cookies["__Host-counterfoil-session"] == nil)
    }
}
