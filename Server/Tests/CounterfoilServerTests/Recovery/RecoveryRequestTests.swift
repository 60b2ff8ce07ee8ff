import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The page on which a user asks for a link, or uses a recovery code.
struct RecoveryRequestTests {
    private static let newPassword = RecoveryLinkTests.newPassword

    /// The accounts of a server with mail, most of which get no mail.
    fileprivate struct Accounts {
        let store = TestStore()
        let recorder = MailRecorder()
        let test: TestServer

        init() async throws {
            test = try await TestServer(store: store, mailSender: recorder)
            _ = try await test.addUser("mute")
            _ = try await test.addUser("grace", email: "grace@example.com", role: .administrator)
            let gone = try await test.addUser("gone", email: "gone@example.com")
            try await store.disableUser(gone.id, at: test.clock.now, recording: [])
        }

        /// Asks for a link in a new browser.
        func ask(_ name: String, from source: String) async throws -> (reply: Reply, calls: Int) {
            var browser = test.browser(source: source)
            let page = try await browser.open("/recover")
            let before = store.calls.values.reduce(0, +)
            let reply = try await browser.askForLink(name, on: page)
            return (reply, store.calls.values.reduce(0, +) - before)
        }

        func sent() async throws -> [String] {
            await (try #require(test.server.mailDelivery)).deliverDue()
            return recorder.mails.map(\.recipient.rawValue)
        }
    }

    private static let names = [
        "alice", "alice@example.com", "nobody", "nobody@example.com", "mute", "grace", "gone", "gone@example.com", "",
        "a\r\nBcc: x@example.com", "\u{0}", String(repeating: "x", count: 3000),
    ]

    @Test func `the answer and the number of store operations are the same whether an account exists`() async throws {
        let accounts = try await Accounts()
        var bodies: Set<String> = []
        var calls: Set<Int> = []
        for (number, name) in Self.names.enumerated() {
            let asked = try await accounts.ask(name, from: "198.51.100.\(number)")
            #expect(asked.reply.status == .ok, "\(name.prefix(20))")
            bodies.insert(try asked.reply.html())
            if !name.isEmpty, name.count < 100 { calls.insert(asked.calls) }
        }
        #expect(bodies.count == 1)
        // A name that cannot be one is not looked up.
        #expect(calls.max().map { $0 - (calls.min() ?? 0) <= 1 } == true)
        // An administrator gets a link only at a verified address.
        #expect(try await accounts.sent() == ["alice@example.com", "alice@example.com"])
        let log = try await accounts.store.audit(AuditQuery(kind: .account, outcome: .refused)).map(\.event)
        #expect(Set(log.map(\.reason)) == [.unknownUser, .userLink, .disabled])
        #expect(log.allSatisfy { $0.detail?.contains("nobody") == false })
    }

    @Test func `an administrator gets a link at a verified address`() async throws {
        let accounts = try await Accounts()
        let name = try #require(Username("grace"))
        var grace = try #require(try await accounts.store.user(named: name))
        grace.profile.isEmailVerified = true
        #expect(try await accounts.store.updateUser(grace, at: accounts.test.clock.now, recording: []) == .updated)
        _ = try await accounts.ask("grace", from: "198.51.100.1")
        #expect(try await accounts.sent() == ["grace@example.com"])
    }

    @Test(arguments: ["alice", "nobody"])
    func `five requests for a name within an hour are admitted, from any address`(name: String) async throws {
        let accounts = try await Accounts()
        for number in 0..<5 { #expect(try await accounts.ask(name, from: "198.51.100.\(number)").reply.status == .ok) }
        let refused = try await accounts.ask(name, from: "198.51.100.99").reply
        #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] != nil)
        #expect(try refused.recoveryPage.name == name)
        accounts.test.clock.advance(by: 3601)
        #expect(try await accounts.ask(name, from: "198.51.100.99").reply.status == .ok)
    }

    // Whether two names are of one account must not show.
    @Test func `an address gets five mails in an hour by all its names, and the page does not say so`() async throws {
        let accounts = try await Accounts()
        for number in 0..<4 {
            for name in ["alice", "alice@example.com"] {
                #expect(try await accounts.ask(name, from: "198.51.100.\(number)").reply.status == .ok)
            }
        }
        #expect(try await accounts.sent().count <= 5)
        await (try #require(accounts.test.server.mailDelivery)).deliverDue()
        #expect(accounts.recorder.mails.count == 5)
    }

    // The limit of the mails to a typed address is reported.
    @Test func `mails to an account do not count for the mails about a new account`() async throws {
        let test = try await TestServer(mailSender: MailRecorder()) { $0.signUp = .open }
        for email in ["alice@example.com", "nobody@example.com"] {
            for number in 0..<5 {
                var browser = test.browser(source: "203.0.113.\(number)")
                #expect(try await browser.askForLink(email, on: try await browser.open("/recover")).status == .ok)
            }
            var browser = test.browser(source: "198.51.100.1")
            let page = try await browser.open("/sign-up").signUpPage
            #expect(try await browser.submit(page.form(email), to: page.action).status == .ok, "\(email)")
        }
    }

    @Test func `requests of strangers keep a user out of no browser and no network of an earlier sign-in`()
        async throws
    {
        let accounts = try await Accounts()
        var known = accounts.test.browser(source: "198.51.100.200")
        try await known.signInToConsole(username: "alice")
        known.cookies["__Host-counterfoil-session"] = nil
        for number in 0..<6 {
            for name in ["alice", "alice@example.com"] { _ = try await accounts.ask(name, from: "203.0.113.\(number)") }
        }
        #expect(try await accounts.ask("alice", from: "203.0.113.99").reply.status == .tooManyRequests)
        #expect(try await accounts.store.mailBacklog().count == 5)
        #expect(try await accounts.ask("alice", from: "198.51.100.200").reply.status == .ok)
        #expect(try await accounts.store.mailBacklog().count == 6)
        // The browser is elsewhere.
        known.source = "203.0.113.98"
        for number in 0...5 {
            let asked = try await known.askForLink("alice", on: try await known.open("/recover"))
            #expect(asked.status == (number < 5 ? .ok : .tooManyRequests), "\(number)")
        }
        #expect(try await accounts.store.mailBacklog().count == 11)
    }

    @Test func `a source asks for thirty mails in an hour`() async throws {
        let accounts = try await Accounts()
        for number in 0..<30 {
            #expect(try await accounts.ask("user\(number)", from: "203.0.113.5").reply.status == .ok)
        }
        #expect(try await accounts.ask("another", from: "203.0.113.5").reply.status == .tooManyRequests)
        #expect(try await accounts.ask("alice", from: "203.0.113.99").reply.status == .ok)
    }

    @Test func `the sign-in page offers what the server has`() async throws {
        for (sendsMail, policy) in [(false, SecondFactorPolicy.off), (false, .offered), (true, .off), (true, .offered)]
        {
            let test = try await TestServer(mailSender: sendsMail ? MailRecorder() : nil) { $0.secondFactor = policy }
            var browser = test.browser()
            let signIn = try await browser.open(Attempt(test).url)
            let isOffered = sendsMail || policy == .offered
            #expect(try (signIn.signInPage.recovery != nil) == isOffered)
            #expect(try signIn.html().contains("Forgot your password?") == isOffered)
            let page = try await browser.open("/recover")
            guard isOffered else {
                #expect(page.status == .notFound)
                continue
            }
            #expect(try page.recoveryPage.offersMail == sendsMail)
            #expect(try page.recoveryPage.offersCodes == (policy == .offered))
            #expect(try page.html().contains(#"value="mail""#) == sendsMail)
        }
    }

    @Test func `a forged form sends nothing`() async throws {
        let accounts = try await Accounts()
        var browser = accounts.test.browser()
        _ = try await browser.open("/recover")
        let form = FormParameters(["decision": "mail", "name": "alice", "request": "", "ticket": "forged"])
        #expect(try await browser.send(.post, to: "/recover", form: form).status == .forbidden)
        #expect(try await accounts.sent().isEmpty)
    }

    // MARK: - Recovery codes

    /// A server without mail, whose user alice has a second factor and no other way back.
    fileprivate struct Holder {
        let store = TestStore()
        let test: TestServer
        let codes: [String]
        var browser: ScriptedUserAgent
        var elsewhere: ScriptedUserAgent

        init() async throws {
            test = try await TestServer(store: store)
            elsewhere = test.browser(source: "198.51.100.1")
            try await elsewhere.signInToConsole(username: "alice")
            codes = try await test.setUpSecondFactor(in: &elsewhere).recoveryCodes
            browser = test.browser()
        }

        mutating func recover(
            _ name: String = "alice", by code: String, to password: String = RecoveryLinkTests.newPassword,
            from source: String = "192.0.2.1"
        ) async throws -> Reply {
            browser.source = source
            return try await browser.recover(name, by: code, to: password, on: try await browser.open("/recover"))
        }
    }

    @Test(arguments: ["alice", "alice@example.com"])
    func `a user with a recovery code and no mailbox is back, and every other session has ended`(
        name: String
    ) async throws {
        var holder = try await Holder()
        #expect(try await holder.elsewhere.open("/account").page is AccountPage)
        let page = try await holder.browser.forgetPassword(on: try await holder.browser.open(Attempt(holder.test).url))
        let asked = try await holder.browser.recover(
            name, by: holder.codes[0].uppercased(), to: Self.newPassword, on: page)
        #expect(try await holder.elsewhere.open("/account").page is SignInPage)
        // One factor was proved, and the code does not stand for the second one, too.
        _ = try asked.codePage
        #expect(try await holder.store.sessions(of: holder.test.alice.id).isEmpty)
        let again = try await holder.browser.enter(holder.codes[0], on: asked)
        #expect(again.status == .badRequest)
        _ = try await holder.browser.enter(holder.codes[1], on: again).consentPage
        let sessions = try await holder.store.sessions(of: holder.test.alice.id)
        #expect(sessions.map(\.methods) == [[.password, .recoveryCode]])
        let event = try await holder.store.audit(AuditQuery(kind: .passwordChange, limit: 1)).first?.event
        #expect(event?.detail == "by a recovery code, ended all sessions")
        // The codes are used up, and the second factor stays.
        #expect(try await holder.recover(by: holder.codes[0]).status == .badRequest)
        guard case .active(_, let left) = try await holder.store.secondFactor(of: holder.test.alice.id) else {
            Issue.record("the second factor is missing")
            return
        }
        #expect(left == RecoveryCode.count - 2)
    }

    @Test func `a recovery code has at least 64 random bits`() {
        let letters = RecoveryCode(random: RandomBytes()).exposed.filter { $0 != "-" }
        #expect(letters.count * 5 >= 64)
        #expect(Set((0..<100).map { _ in RecoveryCode(random: RandomBytes()).exposed }).count == 100)
    }

    @Test func `a wrong code and an unknown user get the same answer, and the same limits`() async throws {
        var holder = try await Holder()
        _ = try await holder.test.addUser("bob")
        func text(_ reply: Reply) throws -> String? { try reply.recoveryPage.problem }
        var answers: Set<String?> = []
        for (number, name) in ["alice", "bob", "nobody", "nobody@example.com"].enumerated() {
            let reply = try await holder.recover(name, by: "abcde-fghij-klmno", from: "203.0.113.\(number)")
            #expect(reply.status == .badRequest)
            answers.insert(try text(reply))
        }
        #expect(answers.count == 1)
        for name in ["alice", "nobody"] {
            var reply = try await holder.recover(name, by: "wrong", from: "203.0.113.50")
            for _ in 0..<20 where reply.status == .badRequest {
                reply = try await holder.recover(name, by: "wrong", from: "203.0.113.50")
            }
            #expect(reply.status == .tooManyRequests && reply.fields[.retryAfter] != nil)
        }
        // The right code waits, too.
        #expect(try await holder.recover(by: holder.codes[0], from: "203.0.113.51").status == .tooManyRequests)
        holder.test.clock.advance(by: 3600)
        _ = try await holder.recover(by: holder.codes[0], from: "203.0.113.51").codePage
    }

    // What is wrong with a password depends on the names of the account, which a stranger does not know.
    @Test func `the names of the account count only after the right code`() async throws {
        var holder = try await Holder()
        let known = "alice@example.com"
        let stranger = try await holder.recover("alice", by: "wrong", to: known + "!")
        #expect(try stranger.recoveryPage.problem?.contains("code") == true)
        #expect(try await holder.recover(by: holder.codes[0], to: "short").status == .badRequest)
        _ = try await holder.recover(by: holder.codes[0]).codePage
    }

    @Test func `a disabled user and one without a second factor get no further`() async throws {
        var holder = try await Holder()
        _ = try await holder.test.addUser("bob")
        #expect(try await holder.recover("bob", by: holder.codes[0]).status == .badRequest)
        try await holder.store.disableUser(holder.test.alice.id, at: holder.test.clock.now, recording: [])
        #expect(try await holder.recover(by: holder.codes[0]).status == .badRequest)
    }
}
