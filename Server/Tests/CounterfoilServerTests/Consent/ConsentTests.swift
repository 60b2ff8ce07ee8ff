import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The consent page and its decisions.
struct ConsentTests {
    private static func consent(_ attempt: Attempt, _ browser: inout ScriptedUserAgent) async throws -> Reply {
        let first = try await browser.open(attempt.url)
        return try await browser.signIn(on: first, username: "alice", password: TestServer.password)
    }

    // Name, initials in place of a logo, publisher, redirect URI, descriptions of permissions,
    // lifetime.
    @Test func `the page names the client and the requested permissions`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await Self.consent(Attempt(test, for: "openid photos.read"), &browser)
        #expect(reply.frame?.site.name == "Example Photos")
        let page = try reply.consentPage
        #expect(page.clientName.description == "Lightbox")
        #expect(page.clientInitials == "Li")
        #expect(page.publisher?.description == "Lightbox Ltd")
        #expect(page.redirectDestination == .thisComputer(host: "127.0.0.1"))
        #expect(page.userDisplayName.description == "Alice")
        #expect(page.userEmail?.description == "al•••@example.com")
        #expect(page.permissions.map(\.title) == ["Sign you in", "See your photos and albums"])
        #expect(page.permissions.map(\.scope) == ["openid", "photos.read"])
        #expect(page.lifetime.contains("one hour"))
    }

    // The page shows the redirect URI, with a warning for a name that may not lead to this device.
    @Test(arguments: [
        (
            "http://127.0.0.1/cb", "http://127.0.0.1:4000/cb",
            RedirectDestination.thisComputer(host: "127.0.0.1")
        ),
        ("http://[::1]/cb", "http://[::1]:4000/cb", .thisComputer(host: "[::1]")),
        ("http://localhost/cb", "http://localhost:4000/cb", .thisComputerByName),
        ("com.example.app:/cb", "com.example.app:/cb", .app(scheme: "com.example.app")),
        ("https://app.example/cb", "https://app.example/cb", .website(host: "app.example")),
    ])
    func `the page shows where the response is sent`(
        registered: String, sent: String, destination: RedirectDestination
    ) async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: [registered])
        var browser = test.browser()
        let page = try await Self.consent(Attempt(test, by: client, at: sent), &browser).consentPage
        #expect(page.redirectDestination == destination)
    }

    // The response is a page of the server that continues; `form-action` would block a redirect.
    @Test func `an approval is sent to the client by a page that continues`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await browser.decide(.allow, on: try await Self.consent(Attempt(test), &browser))
        #expect(reply.status == .ok)
        #expect(reply.location == nil)
        let page = try reply.goOnPage
        #expect(page.kind == .allowed(codeLifetime: 60))
        #expect(page.clientName.description == "Lightbox")
        #expect(page.destination.hasPrefix("http://127.0.0.1:51004/callback?code="))
        #expect(reply.fields[.cacheControl] == "no-store")
    }

    @Test func `a denial is sent to the client`() async throws {
        let test = try await TestServer()
        let reply = try await Attempt(test).authorize(decision: .deny)
        #expect(reply.status == .ok)
        #expect(try reply.goOnPage.kind == .denied)
        let response = try reply.authorizationResponse
        #expect(try reply.redirectedError.code == .accessDenied)
        #expect(response.state?.exposed == "af0ifjsldkj")
        #expect(response.issuer == "https://id.example.com")
    }

    @Test func `after a denial a new request can be allowed`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser, decision: .deny)
        let attempt = Attempt(test)
        let code = try await attempt.authorize(with: &browser).code
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
    }

    // A double click or the back button gives no second code, and does not invalidate the first.
    @Test func `a page accepts one decision`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        var browser = test.browser()
        let page = try await Self.consent(attempt, &browser)
        let code = try await browser.decide(.allow, on: page).code
        let again = try await browser.decide(.allow, on: page)
        #expect(again.status == .badRequest)
        #expect(try again.problemPage.title == "You have already answered this")
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
    }

    @Test func `twenty concurrent submissions give one code`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await Self.consent(Attempt(test), &browser)
        let clicking = browser
        let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    var browser = clicking
                    return try await browser.decide(.allow, on: page)
                }
            }
            return try await group.reduce(into: [Reply]()) { $0.append($1) }
        }
        #expect(replies.filter { $0.status == .ok }.count == 1)
        #expect(replies.filter { $0.status == .badRequest }.count == 19)
    }

    // A ticket belongs to one browser, one request and one page, and the code is issued after the approval.
    @Test func `a decision with a ticket of another page is refused`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        var browser = test.browser()
        var other = test.browser()
        let page = try await Self.consent(Attempt(test), &browser).consentPage
        let signIn = try await other.open(Attempt(test).url)
        let otherPage = try await other.signIn(on: signIn, username: "bob", password: TestServer.password).consentPage
        let form = page.form(.allow)
        let tampered = [
            form.setting("ticket", to: nil), form.setting("ticket", to: otherPage.ticket),
            form.setting("ticket", to: try signIn.signInPage.ticket),
            form.setting("request", to: Attempt(test).with("scope", "photos.write").request.encoded),
            form.setting("request", to: Attempt(test).with("redirect_uri", "https://evil.example/cb").request.encoded),
        ]
        for form in tampered {
            let reply = try await browser.submit(form, to: page.action)
            #expect(reply.status == .forbidden)
            #expect(throws: (any Error).self) { try reply.destination }
        }
        let crossSite = try await browser.send(
            .post, to: page.action, form: form, fields: [try .named("Sec-Fetch-Site"): "cross-site"])
        #expect(crossSite.status == .forbidden)
        #expect(try await browser.submit(form, to: page.action).code.exposed.utf8.count == 43)
    }

    @Test(arguments: [nil, "", "Allow", "yes", "allow deny"])
    func `a form without a decision decides nothing`(decision: String?) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await Self.consent(Attempt(test), &browser).consentPage
        let reply = try await browser.submit(page.form(.allow).setting("decision", to: decision), to: page.action)
        #expect(reply.status == .badRequest)
        #expect(try reply.problemPage.title == "We did not receive your choice")
        let twice = try await browser.submit(page.form(.deny).adding("decision", "allow"), to: page.action)
        #expect(twice.status == .badRequest)
        #expect(try await browser.submit(page.form(.allow), to: page.action).code.exposed.isEmpty == false)
    }

    @Test func `a decision by GET is refused`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await Self.consent(Attempt(test), &browser).consentPage
        let reply = try await browser.send(.get, to: page.action + "?" + page.form(.allow).encoded)
        #expect(reply.status == .methodNotAllowed)
    }

    // RFC 8252 §8.6: the identity of a public client is not assured, so the user is asked each time.
    @Test func `a client that was allowed before is asked about again`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        #expect(try await browser.open(Attempt(test).url).consentPage.clientName.description == "Lightbox")
    }

    @Test func `a first-party client is not asked about, unless it requests that`() async throws {
        let test = try await TestServer()
        let address = "https://app.example/cb"
        let client = try await test.register("Album", redirectURIs: [address], isFirstParty: true)
        var browser = test.browser()
        let first = try await browser.open(Attempt(test, by: client, at: address).url)
        let reply = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        #expect(try reply.goOnPage.destination.hasPrefix(address + "?code="))
        let silent = Attempt(test, by: client, at: address)
        let again = try await browser.open(silent.url)
        #expect(again.status == .seeOther)
        #expect(await test.redeem(silent.exchange(try again.code)).status == .ok)
        let asking = Attempt(test, by: client, at: address).with("prompt", "consent")
        #expect(try await browser.open(asking.url).consentPage.clientName.description == "Album")
    }

    // "Use another account": the session ends, and another user can sign in for the same request.
    @Test func `switching the account ends the session and restarts the request`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        let attempt = Attempt(test)
        var browser = test.browser()
        let page = try await Self.consent(attempt, &browser)
        let before = browser
        let signIn = try await browser.decide(.switchAccount, on: page)
        let consent = try await browser.signIn(on: signIn, username: "bob", password: TestServer.password)
        #expect(try consent.consentPage.userDisplayName.description == "Bob")
        var old = before
        #expect(try await old.open(attempt.url).signInPage.problem == nil)
    }

    // Without a session, a consent page leads to sign-in and never to a code; no field reaches a header unescaped.
    @Test func `a decision without a session asks to sign in`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await Self.consent(Attempt(test), &browser).consentPage
        browser.cookies = [:]
        let reply = try await browser.submit(page.form(.allow), to: page.action)
        #expect(try reply.signInPage.clientName?.description == "Lightbox")
        let hostile = page.form(.allow).setting("request", to: "a=b\r\nSet-Cookie: x=1")
        let sent = try await browser.send(.post, to: page.action, form: hostile)
        #expect(sent.cookies.isEmpty)
        #expect(sent.location?.contains("\r") != true && sent.location?.contains("\n") != true)
    }

    // A client name is truncated, stripped of control and invisible characters, and never empty.
    @Test(arguments: [
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"), ("Pho\u{202E}tos", "Photos"),
        ("\u{2066}Photos\u{2069}", "Photos"), ("Pho\u{200B}tos", "Photos"), ("  Photos \n App ", "Photos App"),
        ("\u{200B}\u{2060}", "app_"), ("Photos\u{7}", "Photos"), ("📷", "📷"), ("Goog\u{AD}le", "Google"),
        ("a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", "a\u{301}\u{301}\u{301}"),
    ])
    func `a name is shown without misleading characters`(name: String, shown: String) async throws {
        let test = try await TestServer()
        let client = try await test.register(name, redirectURIs: ["https://app.example/cb"])
        var browser = test.browser()
        let page = try await Self.consent(Attempt(test, by: client, at: "https://app.example/cb"), &browser).consentPage
        #expect(
            shown == "app_"
                ? page.clientName.description.hasPrefix("app_") : page.clientName.description == shown)
        #expect(page.redirectDestination == .website(host: "app.example"))
    }

    @Test func `a name of 10 KB is truncated`() async throws {
        let test = try await TestServer()
        let long = String(repeating: "Photos ", count: 1500)
        let client = try await test.register(long, redirectURIs: ["https://app.example/cb"])
        var browser = test.browser()
        let page = try await Self.consent(Attempt(test, by: client, at: "https://app.example/cb"), &browser).consentPage
        #expect(page.clientName.description.count == DisplayName.maximumLength)
        #expect(page.clientName.description.hasSuffix("…"))
    }

    // An error page reflects nothing of the request.
    @Test(arguments: ["client_id", "redirect_uri", "error_description", "error", "state", "client_name"])
    func `an error page reflects nothing of the request`(name: String) async throws {
        let attempt = Attempt(try await TestServer(), at: "https://unregistered.example/cb").with(
            name, "<script>alert(1)</script>")
        let page = try await attempt.firstReply().problemPage
        for text in [page.title, page.explanation, page.advice] { #expect(!text.contains("script")) }
    }
}
