@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The sign-in page.
struct SignInTests {
    // The page is the server's own, and asks for user name and password.
    @Test func `a browser without a session gets the sign-in page of the server`() async throws {
        let test = try await TestServer()
        let reply = try await Attempt(test).firstReply()
        #expect(reply.status == .ok)
        let page = try reply.signInPage
        #expect(reply.frame?.site.name == "Example Photos")
        #expect(page.clientName?.description == "Lightbox")
        #expect(page.action == "/oauth2/authorize/sign-in")
        #expect(page.problem == nil)
        #expect(reply.fields[.cacheControl] == "no-store")
    }

    // A user with a session is not asked to sign in again.
    @Test func `a browser with a session continues to consent`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        #expect(try await browser.open(Attempt(test).url).consentPage.userDisplayName.description == "Alice")
    }

    // White space around a name is that of a keyboard or of a copy.
    @Test(arguments: [
        "alice", "ALICE", "alice@example.com", "Alice@Example.com", "alice ", " alice", "alice@example.com ",
        "alice\u{A0}", "\u{3000}Alice\u{2009}", "\talice@example.com\r\n",
    ])
    func `a user signs in by user name or email address, in any case`(name: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: name, password: TestServer.password)
        #expect(try reply.consentPage.userDisplayName.description == "Alice")
    }

    // An unknown user and a wrong password get the same response.
    @Test(arguments: [
        "alice", "nobody", "bob@example.com", "", " ", " alice", "alice ", "al ice", "a\u{FF4C}ice", "al\u{200D}ice",
        "àlice",
        "alice\0",
        "' OR 1=1 --", "\"; DROP TABLE people; --", "%", "_____", "alice@", "@example.com", "<script>",
        String(repeating: "a", count: 10_000),
    ])
    func `a wrong name or password is refused in one way`(name: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let first = try await browser.open(Attempt(test).url)
        let reply = try await browser.signIn(on: first, username: name, password: "wrong")
        #expect(reply.status == .badRequest)
        #expect(reply.cookies.isEmpty)
        var page = try reply.signInPage
        #expect(page.problem == "Wrong user name, email or password.")
        #expect(page.username == name)
        // Except for the input, the ticket and the challenge that follows from it, the page equals the first one.
        page.problem = nil
        page.username = ""
        page.ticket = try first.signInPage.ticket
        page.passkeys = try first.signInPage.passkeys
        #expect(try page == first.signInPage)
        #expect(try await browser.open(Attempt(test).url).signInPage.problem == nil)
    }

    // The time does not tell whether there is a user or a disabled one, because each
    // attempt hashes once, at the same cost.
    @Test func `an unknown user and a disabled account cost the same hash as a wrong password`() async throws {
        let costs = Mutex<[String]>([])
        // Algorithm, version, memory, passes and lanes; then the lengths of salt and hash.
        let hasher = PasswordHasher { hash in
            let parts = hash.exposed.split(separator: "$")
            let cost = parts.prefix(3).map(String.init) + parts.dropFirst(3).map { "\($0.count)" }
            costs.withLock { $0.append(cost.joined(separator: "$")) }
        }
        let test = try await TestServer(hasher: hasher)
        try await add("carol", password: "carol's own password", to: test, hasher: hasher)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        for name in ["carol", "nobody"] {
            let reply = try await browser.signIn(on: page, username: name, password: "wrong")
            #expect(reply.status == .badRequest)
        }
        let username = try #require(Username("carol"))
        let carol = try await test.store.user(named: username)
        try await test.store.disableUser(try #require(carol).id, at: test.clock.now, recording: [])
        let reply = try await browser.signIn(on: page, username: "carol", password: "carol's own password")
        #expect(reply.status == .badRequest)
        #expect(costs.withLock { $0 } == Array(repeating: "argon2id$v=19$m=19456,t=2,p=1$22$43", count: 3))
    }

    @Test(arguments: ["", "carol's former password"])
    func `a user without a password gets the answer of a wrong password, at the same cost`(
        _ typed: String
    ) async throws {
        let verified = Mutex<[PasswordHash]>([])
        let test = try await TestServer(hasher: PasswordHasher { hash in verified.withLock { $0.append(hash) } })
        let carol = User(
            username: try #require(Username("carol")), email: nil, displayName: "Carol", passwordHash: nil,
            createdAt: test.clock.now)
        #expect(try await test.store.addUser(carol) == .added)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        let unknown = try await browser.signIn(on: page, username: "nobody", password: typed)
        let reply = try await browser.signIn(on: page, username: "carol", password: typed)
        #expect(reply.status == unknown.status)
        #expect(try reply.signInPage.problem == unknown.signInPage.problem)
        let hashes = verified.withLock { $0 }
        #expect(hashes.count == (typed.isEmpty ? 0 : 2) && Set(hashes.map(\.exposed)).count <= 1)
        #expect(try await test.store.sessions(of: carol.id).isEmpty)
        let events = try await test.store.audit(AuditQuery(kind: .signIn, limit: 1))
        let event = try #require(events.first?.event)
        #expect(event.userID == carol.id && event.reason == .wrongPassword)
    }

    /// A password of 1024 bytes, the maximum.
    private static let longest = String(repeating: "long and odd ", count: 78) + "0123456789"

    // Limited in length, never truncated, with any characters.
    @Test(arguments: [
        (String(repeating: "p", count: 79) + "a" + "tail", String(repeating: "p", count: 79) + "b" + "tail"),
        ("pass\0word one", "pass\0word two"),
        ("пароль из многих слов, шестьдесят четыре знака в сумме 📷 é ß ñ ü", "пароль"),
        (longest, longest + String(repeating: "x", count: 3976)),
        (longest, longest + String(repeating: "x", count: 28_976)),
        (" spaces around ", "spaces around"),
        ("password with + and & and % and =", "password with   and & and % and ="),
    ])
    func `every character of a password counts`(right: String, wrong: String) async throws {
        let hasher = PasswordHasher()
        let test = try await TestServer(hasher: hasher)
        try await add("carol", password: right, to: test, hasher: hasher)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        #expect(try await browser.signIn(on: page, username: "carol", password: wrong).status == .badRequest)
        #expect(try await browser.signIn(on: page, username: "carol", password: "").status == .badRequest)
        #expect(
            try await browser.signIn(on: page, username: "carol", password: right).consentPage.clientName
                == "Lightbox")
    }

    // RFC 8265 §4.2.2; one keyboard types é as one code point, another as a letter and an accent, and
    // Option-Space types a no-break space.
    @Test(arguments: [
        ("crème brûlée à Liège", "cre\u{300}me bru\u{302}le\u{301}e a\u{300} Lie\u{300}ge"),
        ("cre\u{300}me bru\u{302}le\u{301}e a\u{300} Lie\u{300}ge", "crème brûlée à Liège"),
        ("four words without accents", "four\u{A0}words\u{3000}without accents"),
        ("한국어로 쓴 비밀번호", "한국어로 쓴 비밀번호".decomposedStringWithCanonicalMapping),
        ("\u{212B}ngstr\u{F6}m units", "\u{C5}ngstro\u{308}m units"),
    ])
    func `a password works however a keyboard encodes it`(chosen: String, typed: String) async throws {
        #expect(!chosen.utf8.elementsEqual(typed.utf8))
        let hasher = PasswordHasher()
        let test = try await TestServer(hasher: hasher)
        try await add("carol", password: chosen, to: test, hasher: hasher)
        var browser = test.browser()
        for password in [typed, chosen] {
            let page = try await browser.open("/sign-in?to=/account")
            _ = try await browser.signIn(on: page, username: "carol", password: password).accountPage
            browser.cookies = [:]
        }
    }

    // A hash of the text as typed is found once, and then replaced; the sessions of the user stay.
    @Test func `a password that was hashed as typed is hashed again at the next sign-in`() async throws {
        // The Argon2id hash of a text with a decomposed é, with 8 KiB of memory and one pass.
        let former = PasswordHash(encoded: Self.hashAsTyped)
        let (asTyped, composed) = ("cafe\u{301} au lait", "caf\u{E9} au lait")
        let test = try await TestServer()
        let carol = User(
            username: try #require(Username("carol")), email: nil, displayName: "Carol", passwordHash: former,
            createdAt: test.clock.now)
        #expect(try await test.store.addUser(carol) == .added)
        var (here, there) = (test.browser(), test.browser())
        #expect(try await here.signInToConsole(username: "carol", password: composed).status == .badRequest)
        _ = try await here.signInToConsole(username: "carol", password: asTyped).accountPage
        let renewed = try #require(try await test.store.user(carol.id)).passwordHash
        #expect(renewed != former)
        for password in [composed, asTyped] {
            _ = try await there.signInToConsole(username: "carol", password: password).accountPage
            there.cookies = [:]
        }
        #expect(try await test.store.user(carol.id)?.passwordHash == renewed)
        _ = try await here.open("/account").accountPage
    }

    // Two sign-ins find the former hash, and each hashes the password again.
    @Test func `two sign-ins that hash a password again at once both succeed`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let former = PasswordHash(encoded: Self.hashAsTyped)
        let carol = User(
            username: try #require(Username("carol")), email: nil, displayName: "Carol", passwordHash: former,
            createdAt: test.clock.now)
        #expect(try await store.addUser(carol) == .added)
        let asTyped = "cafe\u{301} au lait"
        store.before(.replacePasswordHash) {
            var other = test.browser(source: "192.0.2.2")
            _ = try? await other.signInToConsole(username: "carol", password: asTyped)
        }
        var browser = test.browser()
        _ = try await browser.signInToConsole(username: "carol", password: asTyped).accountPage
        #expect(store.calls(of: .replacePasswordHash) == 2)
        #expect(try await store.user(carol.id)?.passwordHash != former)
    }

    // A sign-in that began before the change proves the former password.
    @Test func `a password that was changed while its hash is replaced stays changed`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let former = PasswordHash(encoded: Self.hashAsTyped)
        let carol = User(
            username: try #require(Username("carol")), email: nil, displayName: "Carol", passwordHash: former,
            createdAt: test.clock.now)
        #expect(try await store.addUser(carol) == .added)
        let new = try #require(test.alice.passwordHash)
        store.before(.replacePasswordHash) {
            _ = try? await store.replacePasswordHash(of: carol.id, from: former, to: new)
        }
        var browser = test.browser()
        let late = try await browser.signInToConsole(username: "carol", password: "cafe\u{301} au lait")
        #expect((try? late.accountPage) == nil)
        #expect(try await store.user(carol.id)?.passwordHash == new)
    }

    private static let hashAsTyped =
        "$argon2id$v=19$m=8,t=1,p=1$YSBzYWx0IGZvciB0ZXN0cw$uEU99biU27dXD7h74eKQqkhmgsbRZj+Dlimh0FscCvc"

    // The rules for new passwords count the letters as they are hashed.
    @Test func `a new password is judged in its normalized form`() throws {
        let username = try #require(Username("carol.smith"))
        #expect(throws: Password.Refusal.tooShort) {
            try Password.chosen("e\u{301}e\u{301}e\u{301}e\u{301}", for: username)
        }
        // 700 letters have 2100 bytes with separate accents, and 1400 without.
        #expect(throws: Password.Refusal.tooLong) {
            try Password.chosen(String(repeating: "e\u{301}", count: 700), for: username)
        }
        let text = String(repeating: "xe\u{301} ", count: 250) + "0123456789"
        #expect(text.utf8.count == 1260)
        #expect(try Password.chosen(text, for: username).exposed.utf8.count == 1010)
    }

    // Passwords that may be set.
    @Test(arguments: [
        ("short", Password.Refusal.tooShort), (String(repeating: "x", count: 1025), .tooLong),
        ("carol.smith", .sameAsName),
        ("CAROL.SMITH", .sameAsName), ("long enough words", nil),
        (String(repeating: "éèêëñ", count: 13), nil), (longest, nil),
    ])
    func `a new password is long enough and not the name`(text: String, refusal: Password.Refusal?) throws {
        let username = try #require(Username("carol.smith"))
        let result = Result { () throws(Password.Refusal) in try Password.chosen(text, for: username) }
        switch result {
        case .success(let password): #expect(refusal == nil && password.exposed == text)
        case .failure(let refused): #expect(refused == refusal)
        }
    }

    // A form without a ticket for this browser and this request signs no user in.
    @Test func `a form with a ticket of another page is refused`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        var other = test.browser()
        let page = try await browser.open(Attempt(test).url).signInPage
        let otherPage = try await other.open(Attempt(test).url).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        let tampered = [
            form.setting("ticket", to: nil), form.setting("ticket", to: "x"),
            form.setting("ticket", to: otherPage.ticket),
            form.setting("request", to: Attempt(test).with("scope", "photos.write").request.encoded),
            form.setting("request", to: nil), form.setting("ticket", to: String(page.ticket.reversed())),
        ]
        for form in tampered {
            let reply = try await browser.submit(form, to: page.action)
            #expect(reply.status == .forbidden)
            #expect(reply.cookies.isEmpty)
            #expect(try reply.problemPage.title == "This page is out of date")
        }
        #expect(try await browser.submit(form, to: page.action).consentPage.userDisplayName.description == "Alice")
    }

    // A form of another site with the attacker's own ticket and password.
    @Test(arguments: [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Site", "none")])
    func `a form from another site is refused`(name: String, value: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        let reply = try await browser.send(.post, to: page.action, form: form, fields: [try .named(name): value])
        #expect(reply.status == .forbidden)
        #expect(reply.cookies.isEmpty)
    }

    // Older browsers send only the origin, or none without a referrer.
    @Test(arguments: [
        ("https://evil.example", false), ("https://id.example.com.evil.example", false),
        ("http://id.example.com", false),
        ("https://id.example.com:8443", false), ("https://id.example.com", true), ("null", true), (nil, true),
    ])
    func `the origin decides if a browser does not send the site`(origin: String?, accepted: Bool) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url).signInPage
        var fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        fields[.origin] = origin
        fields[.cookie] = browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        let reply = await test.send(
            .post, to: .signIn, fields: fields,
            body: Array(page.form(username: "alice", password: TestServer.password).encoded.utf8)
        )
        #expect(reply.status == (accepted ? .seeOther : .forbidden))
        #expect(reply.cookies.isEmpty == !accepted)
    }

    // Without the cookie of the browser there is nothing to bind a form to.
    @Test func `a form without the browser cookie is refused`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url).signInPage
        browser.cookies = [:]
        let form = page.form(username: "alice", password: TestServer.password)
        let reply = try await browser.submit(form, to: page.action)
        #expect(reply.status == .badRequest)
        #expect(reply.cookies.isEmpty)
        #expect(try reply.problemPage.title == "Your browser did not send our cookie")
        let again = try await browser.open(try #require(try reply.problemPage.continueLink).address)
        #expect(try again.signInPage.request == page.request)
    }

    // Only the authenticated request on the page decides where the browser continues.
    @Test(arguments: [
        "//evil.example", "https:evil.example", "/\\evil.example", "%2f%2fevil.example", "https://evil.example",
    ])
    func `no field of a form decides where to continue`(target: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url).signInPage
        var form = page.form(username: "alice", password: TestServer.password)
        for name in ["next", "return_to", "redirect_uri", "continue", "url"] { form.append(name, target) }
        let reply = try await browser.send(.post, to: page.action, form: form)
        #expect(reply.status == .seeOther)
        let location = try #require(reply.location)
        #expect(location.hasPrefix("https://id.example.com/oauth2/authorize?"))
        #expect(!location.contains("evil"))
    }

    // A page that was open for too long is refused.
    @Test func `a sign-in page is valid for half an hour`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await browser.open(Attempt(test).url)
        test.clock.advance(by: 1801)
        let late = try await browser.signIn(on: reply, username: "alice", password: TestServer.password)
        #expect(late.status == .badRequest)
        let problem = try late.problemPage
        #expect(problem.title == "This page has expired")
        let again = try await browser.open(try #require(problem.continueLink).address)
        #expect(try again.signInPage.request == reply.signInPage.request)
    }

    // NIST SP 800-63B-4 §3.1.1.2: no password is changed periodically.
    @Test func `a password does not expire`() async throws {
        let test = try await TestServer()
        test.clock.advance(by: 10 * 365 * 86_400)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        let reply = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try reply.consentPage.userDisplayName.description == "Alice")
    }

    // The largest possible request passes through every page.
    @Test func `a request with the longest state passes through all pages`() async throws {
        let test = try await TestServer()
        let state = String(repeating: "📷", count: 2048)
        let reply = try await Attempt(test).with("state", state).authorize()
        #expect(try reply.authorizationResponse.state?.exposed == state)
    }

    private func add(_ name: String, password: String, to test: TestServer, hasher: PasswordHasher) async throws {
        let username = try #require(Username(name))
        let user = User(
            username: username, email: nil, displayName: name,
            passwordHash: try await hasher.hash(try #require(Password(typed: password))),
            createdAt: test.clock.now
        )
        #expect(try await test.store.addUser(user) == .added)
    }
}
