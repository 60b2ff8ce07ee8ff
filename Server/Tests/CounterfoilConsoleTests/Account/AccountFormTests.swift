import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The forms of the account are accepted only from a page of this server, shown to this session, within its
/// lifetime.
struct AccountFormTests {
    /// The forms that change data.
    enum Form: CaseIterable {
        case narrow, disconnect, endSession, endOthers, password, signOut

        var path: String {
            switch self {
            case .narrow, .disconnect: "/account/apps/app_lightbox"
            case .endSession, .endOthers: "/account/sessions"
            case .password: "/account/password"
            case .signOut: "/account/sign-out"
            }
        }

        func fields(ticket: String, session: String) -> FormParameters {
            var form =
                switch self {
                case .narrow: FormParameters(["decision": "save", "permission.photos.read": "granted"])
                case .disconnect: FormParameters(["decision": "disconnect"])
                case .endSession: FormParameters(["decision": "end", "session": session])
                case .endOthers: FormParameters(["decision": "end-others"])
                case .password:
                    FormParameters([
                        "current_password": TestServer.password, "new_password": "a new one that nobody else has",
                    ])
                case .signOut: FormParameters()
                }
            form.append("ticket", ticket)
            return form
        }
    }

    /// Alice in two browsers, who has granted Lightbox two scopes.
    private struct World {
        let test: TestServer
        var browser: ScriptedUserAgent
        var other: ScriptedUserAgent
        let otherSession: String

        init() async throws {
            let test = try await TestServer()
            var other = test.browser()
            _ = try await Attempt(test, for: "photos.read photos.write").authorize(with: &other)
            var browser = test.browser()
            let page = try await browser.signInToConsole(username: "alice", to: "/account/sessions").sessionsPage
            self.test = test
            self.browser = browser
            self.other = other
            otherSession = try #require(page.rows.first { !$0.isCurrent }).id
        }

        /// Returns the anti-CSRF token of a page.
        mutating func ticket(_ form: Form, in browser: inout ScriptedUserAgent) async throws -> String {
            guard form != .signOut else { return try await browser.open("/account").accountPage.console.signOutTicket }
            switch try await browser.open(form.path).page {
            case let page as ConnectedClientPage: return page.ticket
            case let page as SessionsPage: return page.ticket
            case let page as PasswordPage: return page.ticket
            default: throw AttemptFailed()
            }
        }

        func expectNothingChanged() async throws {
            #expect(try await test.store.sessions(of: test.alice.id).count == 2)
            let user = try await test.store.user(test.alice.id)
            #expect(user?.passwordHash == test.alice.passwordHash)
            let consent = try await test.store.consent(of: test.alice.id, to: test.lightbox.id)
            #expect(consent?.scope == (try Scope(parsing: "photos.read photos.write")))
        }
    }

    private struct AttemptFailed: Error {}

    // No token, a forged one, one of another page, and one of another session.
    @Test(arguments: Form.allCases)
    func `a form without its own anti-CSRF token changes nothing`(form: Form) async throws {
        var world = try await World()
        var browser = world.browser
        var other = world.other
        let own = try await world.ticket(form, in: &browser)
        let foreign = try await world.ticket(form, in: &other)
        let elsewhere = try await world.ticket(form == .password ? .endOthers : .password, in: &browser)
        for ticket in ["", "x", foreign, elsewhere, String(own.reversed()), own + "A"] {
            let fields = form.fields(ticket: ticket, session: world.otherSession)
            let reply = try await browser.submit(fields, to: form.path)
            #expect(reply.status == .forbidden)
            #expect(reply.cookies.isEmpty)
            try await world.expectNothingChanged()
        }
        let fields = form.fields(ticket: own, session: world.otherSession)
        #expect(try await browser.send(.post, to: form.path, form: fields).status == .seeOther)
    }

    // A form from another site, even with the right token.
    @Test(arguments: Form.allCases)
    func `a form from another site changes nothing`(form: Form) async throws {
        var world = try await World()
        var browser = world.browser
        let ticket = try await world.ticket(form, in: &browser)
        let fields = form.fields(ticket: ticket, session: world.otherSession)
        for site in ["cross-site", "same-site", "none"] {
            let reply = try await browser.send(
                .post, to: form.path, form: fields, fields: [try .named("Sec-Fetch-Site"): site])
            #expect(reply.status == .forbidden)
        }
        for origin in ["https://evil.example", "http://id.example.com", "https://id.example.com:8443"] {
            // A browser that sends no Sec-Fetch-Site sends the origin.
            var named = browser
            named.namesSite = false
            let reply = try await named.send(.post, to: form.path, form: fields, fields: [.origin: origin])
            #expect(reply.status == .forbidden)
        }
        try await world.expectNothingChanged()
    }

    // A page that was open for longer than a session may be idle is shown again.
    @Test(arguments: Form.allCases)
    func `an expired form changes nothing`(form: Form) async throws {
        var world = try await World()
        var browser = world.browser
        let ticket = try await world.ticket(form, in: &browser)
        for _ in 0..<2 {
            world.test.clock.advance(by: 5 * 3600)
            _ = try await browser.open("/account")
        }
        let fields = form.fields(ticket: ticket, session: world.otherSession)
        let reply = try await browser.submit(fields, to: form.path)
        #expect([.badRequest, .forbidden].contains(reply.status))
        #expect(try reply.problemPage.status == reply.status.code)
        try await world.expectNothingChanged()
    }

    // A GET changes nothing, whatever the URL contains, and other methods are refused.
    @Test(arguments: Form.allCases)
    func `opening a URL changes nothing`(form: Form) async throws {
        var world = try await World()
        var browser = world.browser
        let ticket = try await world.ticket(form, in: &browser)
        let query = form.fields(ticket: ticket, session: world.otherSession).encoded
        let reply = try await browser.send(.get, to: form.path + "?" + query)
        #expect(reply.status == (form == .signOut ? .methodNotAllowed : .ok))
        for method in [HTTPRequest.Method.put, .delete, .patch] {
            let fields = form.fields(ticket: ticket, session: world.otherSession)
            #expect(try await browser.send(method, to: form.path, form: fields).status == .methodNotAllowed)
        }
        try await world.expectNothingChanged()
    }

    // Without a session, a form leads to the sign-in page and has no effect after it.
    @Test(arguments: Form.allCases)
    func `a form without a session changes nothing`(form: Form) async throws {
        var world = try await World()
        var browser = world.browser
        let ticket = try await world.ticket(form, in: &browser)
        var stranger = world.test.browser()
        let fields = form.fields(ticket: ticket, session: world.otherSession)
        let reply = try await stranger.send(.post, to: form.path, form: fields)
        #expect(reply.status == .seeOther)
        #expect(reply.location?.hasPrefix("https://id.example.com/sign-in?to=") == true)
        #expect(reply.cookies.isEmpty)
        try await world.expectNothingChanged()
    }

    // Neither the pages of an account nor the responses to its forms are cached.
    @Test func `no response of the account may be stored`() async throws {
        var world = try await World()
        var browser = world.browser
        for path in ["/account", "/account/sessions", "/account/password", "/account/apps/app_lightbox"] {
            #expect(try await browser.open(path).fields[.cacheControl] == "no-store")
            var stranger = world.test.browser()
            #expect(try await stranger.send(.get, to: path).fields[.cacheControl] == "no-store")
        }
        let ticket = try await world.ticket(.disconnect, in: &browser)
        let fields = Form.disconnect.fields(ticket: ticket, session: "")
        let reply = try await browser.send(.post, to: Form.disconnect.path, form: fields)
        #expect(reply.fields[.cacheControl] == "no-store")
        #expect(try await browser.open("/account/apps/app_lightbox").fields[.cacheControl] == "no-store")
    }

    // The notices of a page come from a fixed vocabulary.
    @Test func `a URL cannot add text to a page`() async throws {
        var world = try await World()
        for done in ["<b>x</b>", "title", "notice.saved", "", "disconnected&done=saved"] {
            let page = try await world.browser.open("/account?done=" + done).accountPage
            #expect(page.notice == nil)
        }
    }
}
