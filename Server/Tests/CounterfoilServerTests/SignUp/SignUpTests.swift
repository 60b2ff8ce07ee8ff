import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Accounts that persons create with an email address, on a server that is open.
struct SignUpTests {
    /// A server with mail that is open to everyone.
    struct Scene {
        let recorder = MailRecorder()
        let store = TestStore()
        let test: TestServer

        init(configure: @escaping (inout ServerSettings) -> Void = { _ in }) async throws {
            test = try await TestServer(store: store, mailSender: recorder) { settings in
                settings.signUp = .open
                configure(&settings)
            }
        }

        /// Asks for an account on the page of a reply, and returns the page that follows.
        func ask(_ email: String, on reply: Reply, in browser: inout ScriptedUserAgent) async throws -> Reply {
            let page = try reply.signUpPage
            return try await browser.submit(page.form(email), to: page.action)
        }

        /// Returns the path and query of the link in the mail that was sent last.
        func link() async throws -> String {
            await (try #require(test.server.mailDelivery)).deliverDue()
            return try #require(recorder.mails.last?.linkPath(at: test.issuer))
        }

        /// Asks for an account, and opens the link.
        func follow(_ email: String, in browser: inout ScriptedUserAgent) async throws -> NewAccountPage {
            _ = try await ask(email, on: try await browser.open("/sign-up"), in: &browser).signUpSentPage
            return try await browser.open(try await link()).newAccountPage
        }

        func user(_ name: String) async throws -> User? {
            try await test.store.user(named: try #require(Username(name)))
        }

        func events(_ kind: AuditEvent.Kind) async throws -> [AuditEvent] {
            try await test.store.audit(AuditQuery(kind: kind)).map(\.event)
        }
    }

    @Test func `a person creates an account at the request of an app, and comes back to the app`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let door = try await browser.open(Attempt(scene.test).url)
        let offer = try #require(try door.signInPage.signUp)
        let begin = FormParameters(["request": offer.request, "decision": "begin"])
        let asked = try await browser.submit(begin, to: offer.action)
        #expect(try asked.signUpPage.clientName?.description.contains("Lightbox") == true)
        let sent = try await scene.ask("Bob@Example.com ", on: asked, in: &browser)
        #expect(try sent.signUpSentPage == SignUpSentPage(email: "bob@example.com", duration: "30 minutes"))
        let link = try await scene.link()
        let mail = try #require(scene.recorder.mails.last)
        #expect(mail.recipient.rawValue == "bob@example.com" && link.hasPrefix("/sign-up?token="))
        // A virus scanner opens the link, too, and changes nothing.
        for _ in 1...2 { #expect(try await browser.open(link).newAccountPage.email == "bob@example.com") }
        #expect(try await scene.user("bob") == nil)

        let page = try await browser.open(link).newAccountPage
        let consent = try await browser.submit(page.form("Bob", displayName: "Bob <b>Builder</b>"), to: page.action)
        #expect(try consent.consentPage.userDisplayName == "Bob <b>Builder</b>")
        #expect(try !consent.html().contains("<b>Builder"))
        let user = try #require(try await scene.user("bob"))
        #expect(user.email?.rawValue == "bob@example.com" && user.profile.isEmailVerified == true)
        #expect(user.role == nil && user.acceptedTerms == nil)
        #expect(try await scene.test.store.sessions(of: user.id).map(\.methods) == [[.password]])
        let details = try await scene.events(.account).map(\.detail)
        #expect(details.contains("signed up") && details.contains("sent a mail about a new account"))
        // The link works once, and says so.
        let again = try await browser.submit(page.form("robert"), to: page.action)
        #expect(again.status == .notFound && again.page is ProblemPage)
        #expect(try await browser.open(link).status == .notFound)
        let refused = try await scene.events(.browserRequest)
        #expect(refused.contains { $0.reason == .signUpLink })
    }

    @Test func `without a request of an app, a new user comes to the account`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let offer = try #require(try await browser.open("/sign-in").signInPage.signUp)
        #expect(offer.request.isEmpty)
        let page = try await scene.follow("bob@example.com", in: &browser)
        let account = try await browser.submit(page.form("bob"), to: page.action)
        #expect(try account.accountPage.user.email == "bob@example.com")
        #expect(try await scene.user("bob")?.displayName == "bob")
    }

    // The answers, the events and the number of operations of the store are the same.
    @Test func `the answer does not tell whether an address has an account`() async throws {
        let scene = try await Scene()
        var pages: [String] = []
        var operations: [[StoreOperation: Int]] = []
        for email in ["alice@example.com", "nobody@example.com"] {
            var browser = scene.test.browser(source: "198.51.100.7")
            let page = try await browser.open("/sign-up")
            let before = scene.store.calls
            let reply = try await scene.ask(email, on: page, in: &browser)
            let calls = scene.store.calls.map { ($0.key, $0.value - (before[$0.key] ?? 0)) }.filter { $0.1 > 0 }
            operations.append(Dictionary(uniqueKeysWithValues: calls))
            #expect(reply.status == .ok)
            pages.append(try reply.html().replacing(email, with: "…"))
            _ = try await scene.link()
        }
        #expect(pages[0] == pages[1])
        #expect(operations[0] == operations[1] && !operations[0].isEmpty)
        let mails = scene.recorder.mails
        #expect(mails.map(\.recipient.rawValue) == ["alice@example.com", "nobody@example.com"])
        #expect(mails[0].linkPath(at: scene.test.issuer) == "/sign-in")
        #expect(mails[0].page.subject == "You have an account at Example Photos")
        let details = try await scene.events(.account).map(\.detail)
        #expect(details == ["sent a mail about a new account", "sent a mail about a new account"])
        // Nothing of the account has changed.
        #expect(try await scene.test.store.user(scene.test.alice.id) == scene.test.alice)
    }

    @Test func `a link works only in the browser that asked for it, and for 30 minutes`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await scene.follow("bob@example.com", in: &browser)
        let link = try await scene.link()
        var other = scene.test.browser(source: "203.0.113.9")
        let refused = try await other.open(link)
        #expect(refused.status == .forbidden && refused.page is ProblemPage)
        _ = try await other.open("/sign-up")
        #expect(try await other.open(link).status == .forbidden)
        let stolen = try await other.submit(page.form("bob"), to: page.action)
        #expect(stolen.status == .forbidden)
        #expect(try await scene.user("bob") == nil)
        scene.test.clock.advance(by: 30 * 60)
        #expect(try await browser.open(link).status == .notFound)
    }

    @Test func `a taken username is told to the reader of the link only, and counts`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await scene.follow("bob@example.com", in: &browser)
        for _ in 1...10 {
            let again = try await browser.submit(page.form("alice"), to: page.action)
            #expect(again.status == .badRequest)
            #expect(try again.newAccountPage.problem == "This user name is taken. Choose another.")
            #expect(try again.newAccountPage.wrongField == .username)
        }
        let limited = try await browser.submit(page.form("bob"), to: page.action)
        #expect(limited.status == .tooManyRequests && limited.fields[.retryAfter] != nil)
        #expect(try await scene.user("bob") == nil)
        #expect(try await scene.events(.account).contains { $0.reason == .usernameTaken })
        #expect(try await scene.events(.throttled).contains { $0.explanation == "new account" })
    }

    @Test func `attempts with a link to a taken address count`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await scene.follow("bob@example.com", in: &browser)
        _ = try await scene.test.addUser("robert", email: "bob@example.com")
        for _ in 1...10 {
            #expect(try await browser.submit(page.form("bob"), to: page.action).status == .notFound)
        }
        #expect(try await browser.submit(page.form("bob"), to: page.action).status == .tooManyRequests)
    }

    @Test(arguments: [
        ("", "", "a lamp, a river and a kite", NewAccountPage.Field.username),
        ("bob builder", "", "a lamp, a river and a kite", .username),
        ("b\u{0}b", "", "a lamp, a river and a kite", .username),
        ("bob", "Bob\u{0}", "a lamp, a river and a kite", .displayName),
        ("bob", "Bob\r\nBcc: eve@example.com", "a lamp, a river and a kite", .displayName),
        ("bob", String(repeating: "b", count: 101), "a lamp, a river and a kite", .displayName),
        ("bob", "\u{200B}", "a lamp, a river and a kite", .displayName),
        ("bob", "", "zq7!x", .password), ("bob", "", "password1", .password),
    ])
    func `bad input is shown again, and the link stays valid`(
        username: String, displayName: String, password: String, field: NewAccountPage.Field
    ) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await scene.follow("bob@example.com", in: &browser)
        let reply = try await browser.submit(
            page.form(username, displayName: displayName, password: password), to: page.action)
        let again = try reply.newAccountPage
        #expect(reply.status == .badRequest && again.wrongField == field && again.problem != nil)
        #expect(try !reply.html().contains(password))
        let done = try await browser.submit(again.form("bob"), to: again.action)
        _ = try done.accountPage
    }

    @Test(arguments: [
        "", "bob", "bob@", "bob@example.com\r\nBcc: eve@example.com", "bob@example.com\u{0}", "<bob@example.com>",
        "bob@example.com,eve@example.com", "b\u{F6}b@example.com",
    ])
    func `an invalid address gets no mail`(address: String) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let reply = try await scene.ask(address, on: try await browser.open("/sign-up"), in: &browser)
        #expect(reply.status == .badRequest)
        #expect(try reply.signUpPage.problem == "This is not an email address.")
        #expect(try await scene.test.store.mailBacklog().count == 0)
    }

    @Test func `mails to an address and from a source are limited, with the same answer for every address`()
        async throws
    {
        let scene = try await Scene()
        for email in ["alice@example.com", "nobody@example.com"] {
            for number in 0...5 {
                var browser = scene.test.browser(source: "203.0.113.\(number + 1)")
                let reply = try await scene.ask(email, on: try await browser.open("/sign-up"), in: &browser)
                #expect(reply.status == (number < 5 ? .ok : .tooManyRequests), "\(email) \(number)")
                #expect(reply.fields[.retryAfter] != nil || number < 5)
            }
        }
        var browser = scene.test.browser(source: "198.51.100.1")
        for number in 0...30 {
            let page = try await browser.open("/sign-up")
            let reply = try await scene.ask("user\(number)@example.com", on: page, in: &browser)
            #expect(reply.status == (number < 30 ? .ok : .tooManyRequests), "\(number)")
        }
        #expect(try await scene.events(.throttled).contains { $0.reason == .throttledSource })
    }

    @Test func `one source creates at most 20 accounts in a day`() async throws {
        let scene = try await Scene()
        for number in 0...20 {
            var browser = scene.test.browser(source: "198.51.100.1")
            // The mails are asked for from elsewhere.
            browser.source = "203.0.113.\(number + 1)"
            let page = try await scene.follow("user\(number)@example.com", in: &browser)
            browser.source = "198.51.100.1"
            let reply = try await browser.send(.post, to: page.action, form: page.form("user\(number)"))
            #expect(reply.status == (number < 20 ? .seeOther : .tooManyRequests), "\(number)")
        }
        #expect(try await scene.user("user19") != nil)
        #expect(try await scene.user("user20") == nil)
    }

    @Test func `a forged form, and one of another page, sends and creates nothing`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await scene.follow("bob@example.com", in: &browser)
        let mails = scene.recorder.mails.count
        let forged = FormParameters(["request": "", "ticket": "forged", "email": "eve@example.com", "decision": "send"])
        #expect(try await browser.submit(forged, to: "/sign-up").status == .forbidden)
        let ticket = try await browser.open("/sign-up").signUpPage.ticket
        let mixed = page.form("bob").setting("ticket", to: ticket)
        #expect(try await browser.submit(mixed, to: "/sign-up").status == .forbidden)
        var fields = HTTPFields()
        fields[try #require(HTTPField.Name("Sec-Fetch-Site"))] = "cross-site"
        let foreign = try await browser.send(.post, to: "/sign-up", form: page.form("bob"), fields: fields)
        #expect(foreign.status == .forbidden)
        #expect(try await scene.user("bob") == nil)
        _ = try? await scene.link()
        #expect(scene.recorder.mails.count == mails)
    }

    @Test(arguments: [SignUpPolicy.closed, .invited])
    func `a server that is not open has no page, and offers none`(policy: SignUpPolicy) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await browser.open("/sign-up").signUpPage
        let link = try await scene.follow("bob@example.com", in: &browser)
        var settings = scene.test.server.settings
        settings.signUp = policy
        scene.test.server.replaceSettings(by: settings)
        #expect(try await browser.open("/sign-up").status == .notFound)
        #expect(try await browser.submit(page.form("bob@example.com"), to: page.action).status == .notFound)
        #expect(try await browser.submit(link.form("bob"), to: link.action).status == .notFound)
        #expect(try await browser.open("/sign-in").signInPage.signUp == nil)
        #expect(try await browser.open(Attempt(scene.test).url).signInPage.signUp == nil)
        #expect(try await scene.user("bob") == nil)
    }

    @Test func `an open server without mail has no page`() async throws {
        let test = try await TestServer { $0.signUp = .open }
        var browser = test.browser()
        #expect(try await browser.open("/sign-up").status == .notFound)
    }

    @Test func `a new user who must have a second factor sets it up before the session begins`() async throws {
        let scene = try await Scene { $0.secondFactor = .everyone }
        var browser = scene.test.browser()
        let asked = try await browser.open(Attempt(scene.test).with("prompt", "create").url)
        _ = try await scene.ask("bob@example.com", on: asked, in: &browser).signUpSentPage
        let page = try await browser.open(try await scene.link()).newAccountPage
        let setup = try await browser.submit(page.form("bob"), to: page.action).codeSetupPage
        let user = try #require(try await scene.user("bob"))
        #expect(try await scene.test.store.sessions(of: user.id).isEmpty)
        let app = try TestAuthenticator(setup.offer)
        let form = FormParameters([
            "request": setup.request, "ticket": setup.ticket, "pending": setup.pending, "setup": setup.offer.setup,
            "code": scene.test.code(of: app),
        ])
        let codes = try await browser.submit(form, to: setup.action).recoveryCodesPage
        _ = try await browser.open(codes.next).consentPage
        #expect(try await scene.test.store.sessions(of: user.id).map(\.methods) == [[.password, .code]])
    }

    @Test func `a request that has expired meanwhile leads to the account`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let asked = try await browser.open(Attempt(scene.test).with("prompt", "create").url)
        _ = try await scene.ask("bob@example.com", on: asked, in: &browser).signUpSentPage
        let page = try await browser.open(try await scene.link()).newAccountPage
        _ = try await scene.test.store.removeClient(scene.test.lightbox.id)
        _ = try await browser.submit(page.form("bob"), to: page.action).accountPage
    }

    // Initiating User Registration via OpenID Connect §4.
    @Test func `prompt=create shows the page, also to a user who is signed in`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        try await browser.signInToConsole(username: "alice")
        let attempt = Attempt(scene.test).with("prompt", "create")
        let asked = try await browser.open(attempt.url)
        let page = try asked.signUpPage
        #expect(page.clientName?.description.contains("Lightbox") == true)
        // The user has an account, and signs in instead.
        let door = try await browser.submit(page.form("", decision: "sign-in"), to: page.action)
        let consent = try await browser.signIn(on: door, username: "alice", password: TestServer.password)
        _ = try consent.consentPage
        let metadata = await scene.test.send(.get, to: .metadata)
        #expect(try metadata.text.contains(#""create""#))
    }

    @Test(arguments: [SignUpPolicy.closed, .invited])
    func `prompt=create is an error where no one can register`(policy: SignUpPolicy) async throws {
        let test = try await TestServer { $0.signUp = policy }
        let error = try await Attempt(test).with("prompt", "create").error()
        #expect(error.code == .invalidRequest && error.description?.contains("prompt=create") == true)
        #expect(try await !test.send(.get, to: .metadata).text.contains(#""create""#))
        let both = try await Attempt(test).with("prompt", "none create").error()
        #expect(both.code == .invalidRequest)
    }
}
