import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Signing in to the console always leads back to a console page, and always needs the user.
struct AccountSignInTests {
    // RFC 9700 §4.11: whatever `to` contains, the target is a page of the console.
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
    func `signing in never leads to another site`(to: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let query = FormParameters(["to": to]).encoded
        let page = try await browser.open("/sign-in?" + query).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        let reply = try await browser.send(.post, to: page.action, form: form)
        #expect(reply.status == .seeOther)
        #expect(reply.location == "/account")
        // With a session the target is the same.
        #expect(try await browser.send(.get, to: "/sign-in?" + query).location == "/account")
    }

    // Unescaped in the URL, or twice.
    @Test(arguments: [
        "to=%2f%2fevil", "to=//evil", "to=%252f%252fevil", "to=/account&to=//evil", "next=//evil", "%74o=//evil",
    ])
    func `a URL of the sign-in page never leads to another site`(query: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        #expect(try await browser.send(.get, to: "/sign-in?" + query).location == "/account")
    }

    // Console pages are reached with their query, but without the notice of an earlier action.
    @Test(arguments: [
        "/account", "/account/sessions", "/account/password", "/account/apps/app_lightbox", "/apps", "/apps/new",
        "/apps/app_lightbox", "/apps/app_lightbox/edit", "/admin", "/admin/branding", "/apps/new?type=service",
        "/admin/audit?kind=sign-in&person=alice&page=2",
    ])
    func `signing in continues to the requested page`(path: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let asked = try await browser.send(.get, to: path + (path.contains("?") ? "&" : "?") + "done=saved")
        #expect(asked.status == .seeOther)
        let page = try await browser.open(try #require(asked.location)).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        #expect(try await browser.send(.post, to: page.action, form: form).location == path)
    }

    // A query leads back to the server's own page only, and stays within it.
    @Test(arguments: [
        ("/account?to=//evil", "/account?to=%2F%2Fevil"),
        ("/account?next=https://evil.example/", "/account?next=https%3A%2F%2Fevil.example%2F"),
        ("/account?a=\\\\evil", "/account?a=%5C%5Cevil"),
        ("/account?a=x\r\nSet-Cookie: x=y", "/account?a=x%0D%0ASet-Cookie%3A%20x%3Dy"),
        ("/account?a=b#//evil", "/account?a=b%23%2F%2Fevil"),
        ("//evil.example/account?a=b", "/account"), ("/oauth2/authorize?client_id=app_lightbox", "/account"),
    ])
    func `a query leads back to its own page`(to: String, expected: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open("/sign-in?" + FormParameters(["to": to]).encoded).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        #expect(try await browser.send(.post, to: page.action, form: form).location == expected)
    }

    @Test func `a query that is too long is dropped`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let asked = try await browser.send(.get, to: "/apps?a=" + String(repeating: "b", count: 3000))
        let page = try await browser.open(try #require(asked.location)).signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        #expect(try await browser.send(.post, to: page.action, form: form).location == "/apps")
    }

    // A user who submits a form after the session ended reads that it was lost, and returns to it.
    @Test(arguments: [
        ("/apps/new", true), ("/apps/app_lightbox/edit", true), ("/account/password", true),
        ("/admin/branding", true), ("/account/sign-out", false),
    ])
    func `the page says that a late form was lost`(path: String, isSaid: Bool) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        browser.cookies["__Host-counterfoil-session"] = nil
        let sent = try await browser.send(.post, to: path, form: FormParameters(["name": "Lightbox Two"]))
        #expect(sent.status == .seeOther)
        let reply = try await browser.open(try #require(sent.location))
        let page = try reply.signInPage
        #expect((page.notice == Localizer.english(SignInMessage.formLost)) == isSaid)
        #expect(try reply.html().contains("before your changes were saved") == isSaid)
        #expect(page.problem == nil)
        let form = page.form(username: "alice", password: TestServer.password)
        let back = try await browser.send(.post, to: page.action, form: form)
        #expect(back.location == (isSaid ? path : "/account"))

        // A user who only opened a page has lost nothing.
        browser.cookies["__Host-counterfoil-session"] = nil
        let looked = try await browser.send(.get, to: isSaid ? path : "/account")
        #expect(try await browser.open(try #require(looked.location)).signInPage.notice == nil)
    }

    // The form is accepted only for the target of its page.
    @Test func `another target in the form is refused`() async throws {
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

    // No session starts without the user's own form: not from a URL, not from another site.
    @Test func `a session starts only from a form of this browser`() async throws {
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

    // A session cookie that was planted before signing in is useless after it.
    @Test func `signing in starts a new session`() async throws {
        let test = try await TestServer()
        let planted = SessionToken().exposed
        var browser = test.browser()
        browser.cookies["__Host-counterfoil-session"] = planted
        try await browser.signInToConsole(username: "alice")
        #expect(browser.cookies["__Host-counterfoil-session"] != planted)
        var attacker = test.browser()
        attacker.cookies["__Host-counterfoil-session"] = planted
        #expect(try await attacker.open("/account").signInPage.problem == nil)

        // Signing in again in a browser ends its previous session.
        let former = browser
        _ = try await browser.open("/account").accountPage
        let again = try await Attempt(test).with("prompt", "login").firstLogin(in: &browser)
        #expect(!again.cookies.isEmpty)
        var old = former
        #expect(try await old.open("/account").signInPage.problem == nil)
    }

    // The cookie of a session.
    @Test func `the session cookie is sent to this server's pages only`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open("/sign-in").signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        let reply = try await browser.send(.post, to: page.action, form: form)
        let cookie = try #require(reply.cookies.first { $0.hasPrefix("__Host-counterfoil-session=") })
        let attributes = Set(cookie.split(separator: ";").dropFirst().map { $0.drop { $0 == " " } })
        #expect(attributes == ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"])
    }

    // An unknown user and a wrong password get the same response.
    @Test(arguments: ["alice", "nobody"])
    func `a wrong password gets the same response as an unknown user`(name: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await browser.signInToConsole(username: name, password: "wrong")
        #expect(reply.status == .badRequest)
        #expect(try reply.signInPage.problem == Localizer.english(SignInMessage.wrong))
        #expect(!browser.cookies.keys.contains("__Host-counterfoil-session"))
    }
}

extension Attempt {
    /// Signs in as alice on the first page of this attempt; returns the response to the form.
    func firstLogin(in browser: inout ScriptedUserAgent) async throws -> Reply {
        let page = try await browser.open(url).signInPage
        return try await browser.send(
            .post, to: page.action, form: page.form(username: "alice", password: TestServer.password))
    }
}
