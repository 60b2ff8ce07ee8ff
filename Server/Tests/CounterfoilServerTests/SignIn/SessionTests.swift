import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The validity of sessions, and what a client may request of them.
struct SessionTests {
    // With an https issuer the cookies are bound to the host; on loopback there is no https.
    @Test(arguments: [
        ("https://id.example.com", "__Host-counterfoil-session", true),
        ("https://id.example.com/tenant1", "__Host-counterfoil-session-VVtddVnr", true),
        ("http://127.0.0.1:8080", "counterfoil-session", false),
    ])
    func `the session cookie cannot be read, sent elsewhere or planted`(issuer: String, name: String, secure: Bool)
        async throws
    {
        let test = try await TestServer(issuer: issuer)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        let form = try page.signInPage.form(username: "alice", password: TestServer.password)
        let signedIn = try await browser.send(.post, to: try page.signInPage.action, form: form)
        // The hint of an earlier sign-in intentionally outlives the session.
        for cookie in page.cookies + signedIn.cookies where !cookie.contains("counterfoil-earlier") {
            let attributes = Set(
                cookie.split(separator: ";").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) })
            #expect(attributes == Set(["Path=/", "HttpOnly", "SameSite=Lax"] + (secure ? ["Secure"] : [])))
        }
        let session = try #require(signedIn.cookies.first)
        #expect(session.hasPrefix(name + "="))
        #expect(signedIn.cookies.count == 2)
    }

    // A browser sends the cookies of one issuer to every issuer of the host.
    @Test func `two issuers on one host keep separate sessions`() async throws {
        let here = try await TestServer(issuer: "https://id.example.com/a")
        let there = try await TestServer(issuer: "https://id.example.com/b")
        _ = try await there.addUser("bob")
        var (browser, other) = (here.browser(), there.browser())
        try await browser.signInToConsole(username: "alice", to: "/a/account")
        other.cookies = browser.cookies
        #expect(try await other.open("/b/account").signInPage.earlier == nil)
        try await other.signInToConsole(username: "bob", to: "/b/account")
        browser.cookies = other.cookies
        #expect(browser.cookies.count == 6)
        #expect(try await browser.open("/a/account").accountPage.console.userDisplayName == "Alice")
        #expect(try await other.open("/b/account").accountPage.console.userDisplayName == "Bob")
    }

    // A session identifier from before the sign-in is invalid after it.
    @Test func `signing in creates a new session and ends the previous one`() async throws {
        let test = try await TestServer()
        let name = "__Host-counterfoil-session"
        let planted = SessionToken().exposed
        var browser = test.browser()
        browser.cookies[name] = planted
        _ = try await Attempt(test).authorize(with: &browser)
        let first = try #require(browser.cookies[name])
        #expect(first != planted)
        _ = try await Attempt(test).with("prompt", "login").authorize(with: &browser)
        #expect(browser.cookies[name] != first)
        for old in [planted, first] {
            var thief = test.browser()
            thief.cookies[name] = old
            #expect(try await thief.open(Attempt(test).url).signInPage.problem == nil)
        }
    }

    @Test func `the cookie of an ended session is invalid`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let first = try await browser.open(Attempt(test).url)
        let consent = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        var stolen = browser
        let ended = try await browser.send(
            .post, to: try consent.consentPage.switchAccountAction, form: try consent.consentPage.form(.switchAccount))
        #expect(ended.cookies.contains { $0.hasPrefix("__Host-counterfoil-session=;") && $0.contains("Max-Age=0") })
        #expect(try await stolen.open(Attempt(test).url).signInPage.problem == nil)
    }

    // A malformed or repeated session cookie is ignored.
    @Test(arguments: [
        "", "x", "' OR 1=1 --", String(repeating: "a", count: 10_000), String(repeating: "A", count: 43), "é",
    ])
    func `a cookie that was never issued is no session`(value: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        browser.cookies["__Host-counterfoil-session"] = value
        #expect(try await browser.open(Attempt(test).url).signInPage.problem == nil)
    }

    @Test func `two session cookies are ignored`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        let cookie = "__Host-counterfoil-session=" + (browser.cookies["__Host-counterfoil-session"] ?? "")
        for field in ["\(cookie); \(cookie)", "\(cookie); __Host-counterfoil-session=x"] {
            let reply = await test.send(
                .get, to: .authorization, query: Attempt(test).request.encoded, fields: [.cookie: field])
            #expect(try reply.signInPage.problem == nil)
        }
        let once = await test.send(
            .get, to: .authorization, query: Attempt(test).request.encoded, fields: [.cookie: cookie])
        #expect(try once.consentPage.userDisplayName.description == "Alice")
    }

    // A session ends after eight idle hours; a visit before that extends it.
    @Test(arguments: [(8 * 3600 - 1.0, true), (8 * 3600.0, false)])
    func `an idle session ends`(away: TimeInterval, lives: Bool) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        test.clock.advance(by: 4 * 3600)
        #expect(try await browser.open(Attempt(test).url).consentPage.userDisplayName.description == "Alice")
        test.clock.advance(by: away)
        let reply = try await browser.open(Attempt(test).url)
        if lives {
            #expect(try reply.consentPage.userDisplayName.description == "Alice")
        } else {
            #expect(try reply.signInPage.problem == nil)
        }
    }

    // A session ends after seven days, however often it is used.
    @Test func `a session ends after a week at the latest`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        for _ in 1..<(7 * 4) {
            test.clock.advance(by: 6 * 3600)
            #expect(try await browser.open(Attempt(test).url).consentPage.userDisplayName.description == "Alice")
        }
        test.clock.advance(by: 6 * 3600)
        #expect(try await browser.open(Attempt(test).url).signInPage.problem == nil)
    }

    @Test func `the session of a disabled user ends immediately`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        let consent = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        try await store.disableUser(test.alice.id, at: test.clock.now, recording: [])
        #expect(try await browser.decide(.allow, on: consent).signInPage.problem == nil)
        let again = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: "alice", password: TestServer.password)
        #expect(again.status == .badRequest)
        #expect(again.cookies.isEmpty)
    }

    // The password is changed between the check of the previous one and the creation of the session.
    @Test(arguments: [false, true])
    func `the previous password starts no session once it is changed`(onConsole: Bool) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let changed = PasswordHash(encoded: "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$Y2hhbmdlZA")
        store.before(.beginSession) {
            _ = try? await store.changePassword(
                of: test.alice.id, from: test.alice.passwordHash, to: changed, keeping: nil,
                at: test.clock.now)
        }
        var browser = test.browser()
        let reply =
            if onConsole { try await browser.signInToConsole(username: "alice") } else {
                try await browser.signIn(
                    on: try await browser.open(Attempt(test).url), username: "alice", password: TestServer.password)
            }
        #expect(try await store.user(test.alice.id)?.passwordHash == changed)
        #expect(reply.status == .badRequest)
        #expect(reply.cookies.isEmpty)
        #expect(try reply.signInPage.problem == "Wrong user name, email or password.")
        #expect(try await store.sessions(of: test.alice.id).isEmpty)
    }

    @Test(arguments: [false, true])
    func `prompt=none without a session is login_required`(firstParty: Bool) async throws {
        let test = try await TestServer()
        let address = "https://app.example/cb"
        let client = try await test.register("Album", redirectURIs: [address], isFirstParty: firstParty)
        let reply = try await Attempt(test, by: client, at: address).with("prompt", "none").firstReply()
        #expect(reply.status == .seeOther)
        #expect(try reply.redirectedError.code == .loginRequired)
        #expect(try reply.authorizationResponse.state?.exposed == "af0ifjsldkj")
    }

    // RFC 8252 §8.6: even if the user has allowed it before. A first-party client gets a response.
    @Test(arguments: [(false, OAuthError.Code.consentRequired), (true, nil)])
    func `prompt=none with a session shows no page`(firstParty: Bool, error: OAuthError.Code?) async throws {
        let test = try await TestServer()
        let address = "https://app.example/cb"
        let client = try await test.register("Album", redirectURIs: [address], isFirstParty: firstParty)
        var browser = test.browser()
        _ = try await Attempt(test, by: client, at: address).authorize(with: &browser)
        let reply = try await browser.open(Attempt(test, by: client, at: address).with("prompt", "none").url)
        #expect(reply.status == .seeOther)
        if let error {
            #expect(try reply.redirectedError.code == error)
        } else {
            #expect(try reply.code.exposed.utf8.count == 43)
        }
    }

    // The user signs in again, the sign-in time is new, and the page is shown once.
    @Test(arguments: ["login", "select_account", "login consent"])
    func `prompt=login asks for the password despite a session`(prompt: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        test.clock.advance(by: 600)
        let attempt = Attempt(test, for: "openid").with("prompt", prompt)
        let page = try await browser.open(attempt.url)
        #expect(try page.signInPage.problem == nil)
        let consent = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        let code = try await browser.decide(.allow, on: consent).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
        #expect(claims["auth_time"] as? Int == Int(test.clock.now.timeIntervalSince1970))
        #expect(try await browser.open(attempt.url).signInPage.problem == nil)
    }

    // The proof of a fresh sign-in belongs to one session and one request, and cannot be forged.
    @Test func `the proof of a sign-in is invalid for another browser or request`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test).with("prompt", "login")
        var browser = test.browser()
        let page = try await browser.open(attempt.url).signInPage
        let sent = try await browser.send(
            .post, to: page.action, form: page.form(username: "alice", password: TestServer.password))
        let proof = try #require(sent.location)
        #expect(try await browser.open(proof).consentPage.userDisplayName.description == "Alice")
        // It does not replace the ticket of the consent page either, because the user has not been asked.
        let form = FormParameters([
            "request": page.request, "ticket": String(proof.split(separator: "=").last ?? ""), "decision": "allow",
        ])
        #expect(try await browser.submit(form, to: "/oauth2/authorize/consent").status == .forbidden)
        var other = test.browser()
        _ = try await Attempt(test).authorize(with: &other)
        #expect(try await other.open(proof).signInPage.problem == nil)
        #expect(try await browser.open(proof + "&extra=1").signInPage.problem == nil)
        #expect(try await browser.open(proof + "A").signInPage.problem == nil)
        test.clock.advance(by: 1801)
        #expect(try await browser.open(proof).signInPage.problem == nil)
    }

    @Test(arguments: [("0", 0.0, true), ("1", 2, true), ("1", 1, false), ("3600", 3600, false), ("3600", 3601, true)])
    func `max_age asks for the password if the sign-in is older`(maxAge: String, age: TimeInterval, asks: Bool)
        async throws
    {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        test.clock.advance(by: age)
        let attempt = Attempt(test, for: "openid").with("max_age", maxAge)
        var reply = try await browser.open(attempt.url)
        if asks {
            reply = try await browser.signIn(on: reply, username: "alice", password: TestServer.password)
        }
        let code = try await browser.decide(.allow, on: reply).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
        #expect(claims["auth_time"] as? Int == Int(test.clock.now.timeIntervalSince1970 - (asks ? 0 : age)))
    }

    @Test func `max_age with prompt=none is login_required if the sign-in is older`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        test.clock.advance(by: 100)
        let reply = try await browser.open(Attempt(test).with("max_age", "99").with("prompt", "none").url)
        #expect(try reply.redirectedError.code == .loginRequired)
    }

    // The proof of a sign-in is in a URL, so it must expire soon.
    @Test(arguments: [("prompt", "login"), ("prompt", "select_account"), ("max_age", "10"), ("max_age", "0")])
    func `the URL after a sign-in does not replace another sign-in`(name: String, value: String)
        async throws
    {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).with(name, value).url)
        let form = try page.signInPage.form(username: "alice", password: TestServer.password)
        let signedIn = try await browser.send(.post, to: try page.signInPage.action, form: form)
        let address = try #require(signedIn.location)
        #expect(try await browser.open(address).consentPage.clientName == "Lightbox")
        test.clock.advance(by: 300)
        #expect(try await browser.open(address).signInPage.problem == nil)
    }

    // A request that the pages cannot carry is refused before the user types a password.
    @Test func `a request that is too large for the pages gets no sign-in page`() async throws {
        let test = try await TestServer()
        for attempt in [
            Attempt(test).adding("padding", String(repeating: "!", count: 10_000)),
            (0..<120).reduce(Attempt(test)) { $0.adding("extra\($1)", "x") },
        ] {
            let reply = try await attempt.firstReply()
            #expect(try reply.problemPage.status == 400)
        }
    }
}
