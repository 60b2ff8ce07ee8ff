import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import HTTPTypes
import Testing

/// Signing in to the pages of the console: always back inside, never without a person.
struct AccountSignInTests {
    // R297, UI-12, RFC 9700 §4.11: whatever stands in `to`, the way back is a page of the console.
    @Test(arguments: [
        "//evil", "//evil.example/account", "https:evil", "https://evil.example/", "https:/evil", "/\\evil", "\\\\evil",
        "/%2f%2fevil", "%2f%2fevil", "%5c%5cevil", "///evil", "/account//evil", "/account/../..//evil",
        "javascript:alert(1)",
        "/oauth2/authorize", "/oauth2/authorize?client_id=app_lightbox", "/oauth2/token", "/setup", "/sign-in",
        "/account/sign-out", "/apps/verdict", "/apps/../oauth2/authorize", "/logos/x", "/callback/app_lightbox", "",
        "account", "/account\r\nSet-Cookie: x=y", "/account#//evil", "/account?", "/account?done=saved", "@evil",
        "/.well-known/x",
        "https://id.example.com@evil.example/account", "\t//evil", " /account", "/ACCOUNT", "/account/",
    ])
    func `signing in leads nowhere else`(to: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let query = FormParameters(["to": to]).encoded
        let page = try await browser.open("/sign-in?" + query).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        let reply = try await browser.send(.post, to: page.action, form: form)
        #expect(reply.status == .seeOther)
        #expect(reply.location == "/account")
        // With a session the way is the same.
        #expect(try await browser.send(.get, to: "/sign-in?" + query).location == "/account")
    }

    // R297, UI-12: written in the address as it is, or twice.
    @Test(arguments: [
        "to=%2f%2fevil", "to=//evil", "to=%252f%252fevil", "to=/account&to=//evil", "next=//evil", "%74o=//evil",
    ])
    func `an address of the sign-in page leads nowhere else`(query: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        #expect(try await browser.send(.get, to: "/sign-in?" + query).location == "/account")
    }

    // The pages of the console are reached, each with its query but without a notice of something earlier.
    @Test(arguments: [
        "/account", "/account/sessions", "/account/password", "/account/apps/app_lightbox", "/apps", "/apps/new",
        "/apps/app_lightbox", "/apps/app_lightbox/edit", "/admin", "/admin/branding", "/apps/new?type=service",
        "/admin/audit?kind=sign-in&person=alice&page=2",
    ])
    func `signing in goes on to the page that was asked for`(path: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let asked = try await browser.send(.get, to: path + (path.contains("?") ? "&" : "?") + "done=saved")
        #expect(asked.status == .seeOther)
        let page = try await browser.open(try #require(asked.location)).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        #expect(try await browser.send(.post, to: page.action, form: form).location == path)
    }

    // A query goes back to our own page and nowhere else, and cannot leave its place.
    @Test(arguments: [
        ("/account?to=//evil", "/account?to=%2F%2Fevil"),
        ("/account?next=https://evil.example/", "/account?next=https%3A%2F%2Fevil.example%2F"),
        ("/account?a=\\\\evil", "/account?a=%5C%5Cevil"),
        ("/account?a=x\r\nSet-Cookie: x=y", "/account?a=x%0D%0ASet-Cookie%3A%20x%3Dy"),
        ("/account?a=b#//evil", "/account?a=b%23%2F%2Fevil"),
        ("//evil.example/account?a=b", "/account"), ("/oauth2/authorize?client_id=app_lightbox", "/account"),
    ])
    func `a query leads back to the page that it belongs to`(to: String, expected: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open("/sign-in?" + FormParameters(["to": to]).encoded).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        #expect(try await browser.send(.post, to: page.action, form: form).location == expected)
    }

    @Test func `a query that is too long is left behind`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let asked = try await browser.send(.get, to: "/apps?a=" + String(repeating: "b", count: 3000))
        let page = try await browser.open(try #require(asked.location)).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        #expect(try await browser.send(.post, to: page.action, form: form).location == "/apps")
    }

    // Who sends a form when the session has ended reads that it is lost, and comes back to it.
    @Test(arguments: [
        ("/apps/new", true), ("/apps/app_lightbox/edit", true), ("/account/password", true),
        ("/admin/branding", true), ("/account/sign-out", false),
    ])
    func `a form that came too late is said to be lost`(path: String, isSaid: Bool) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        browser.cookies["__Host-counterfoil-session"] = nil
        let sent = try await browser.send(.post, to: path, form: FormParameters(["name": "Lightbox Two"]))
        #expect(sent.status == .seeOther)
        let reply = try await browser.open(try #require(sent.location))
        let page = try reply.signInPage
        #expect((page.notice == Words.english(SignInPhrase.formLost)) == isSaid)
        #expect(try reply.html().contains("before your changes were saved") == isSaid)
        #expect(page.problem == nil)
        let form = page.form(username: "alice", password: TestServer.password)
        let back = try await browser.send(.post, to: page.action, form: form)
        #expect(back.location == (isSaid ? path : "/account"))

        // Who only looked has lost nothing.
        browser.cookies["__Host-counterfoil-session"] = nil
        let looked = try await browser.send(.get, to: isSaid ? path : "/account")
        #expect(try await browser.open(try #require(looked.location)).signInPage.notice == nil)
    }

    // What the page carries along is what it was made for.
    @Test func `another way back in the form is refused`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open("/sign-in?to=/apps").signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        for path in ["//evil", "/admin", "https://evil.example"] {
            let reply = try await browser.send(.post, to: page.action, form: form.setting("request", to: path))
            #expect(reply.status == .forbidden)
            #expect(reply.cookies.isEmpty)
        }
    }

    // R335, UI-02: no session without a person at our own form: not by an address, not from elsewhere.
    @Test func `no session begins without the form of this browser`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open("/sign-in").signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        _ = try await browser.send(.get, to: "/sign-in?" + form.encoded)
        let crossSite = try await browser.send(
            .post, to: page.action, form: form, fields: [try .named("Sec-Fetch-Site"): "cross-site"])
        #expect(crossSite.status == .forbidden)
        var victim = test.browser()
        #expect(try await victim.send(.post, to: page.action, form: form).status == .badRequest)
        _ = try await victim.open("/sign-in")
        #expect(try await victim.send(.post, to: page.action, form: form).status == .forbidden)
        #expect(
            try await browser.send(.post, to: page.action, form: form.setting("ticket", to: nil)).status == .forbidden)
        #expect(try await test.store.sessions(of: test.alice.id).isEmpty)
    }

    // R333: a session that was planted before signing in is worth nothing after it.
    @Test func `signing in begins a session of its own`() async throws {
        let test = try await TestServer()
        let planted = SessionToken().exposed
        var browser = test.browser()
        browser.cookies["__Host-counterfoil-session"] = planted
        try await browser.signInToConsole(username: "alice")
        #expect(browser.cookies["__Host-counterfoil-session"] != planted)
        var attacker = test.browser()
        attacker.cookies["__Host-counterfoil-session"] = planted
        #expect(try await attacker.open("/account").signInPage.problem == nil)

        // Signing in anew in a browser ends its former session.
        let former = browser
        _ = try await browser.open("/account").accountPage
        let again = try await Attempt(test).with("prompt", "login").firstLogin(in: &browser)
        #expect(!again.cookies.isEmpty)
        var old = former
        #expect(try await old.open("/account").signInPage.problem == nil)
    }

    // R311, R327: the cookie of a session.
    @Test func `the cookie of a session is for this server and its pages only`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open("/sign-in").signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        let reply = try await browser.send(.post, to: page.action, form: form)
        let cookie = try #require(reply.cookies.first { $0.hasPrefix("__Host-counterfoil-session=") })
        let attributes = Set(cookie.split(separator: ";").dropFirst().map { $0.drop { $0 == " " } })
        #expect(attributes == ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"])
    }

    // An unknown person and a wrong password are told the same.
    @Test(arguments: ["alice", "nobody"])
    func `a wrong password is told like an unknown name`(name: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await browser.signInToConsole(username: name, password: "wrong")
        #expect(reply.status == .badRequest)
        #expect(try reply.signInPage.problem == Words.english(SignInPhrase.wrong))
        #expect(!browser.cookies.keys.contains("__Host-counterfoil-session"))
    }
}

extension Attempt {
    /// Signs in as alice on the page that this attempt shows first; the answer to the form.
    func firstLogin(in browser: inout ScriptedUserAgent) async throws -> Reply {
        let page = try await browser.open(url).signInPage
        return try await browser.send(
            .post, to: page.action, form: page.form(username: "alice", password: TestServer.password))
    }
}
