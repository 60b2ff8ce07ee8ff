import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Authorization responses go to the redirect URIs of the client and to no other URL.
struct RedirectURITests {
    /// A registered URI, a requested URI, and whether they match.
    private static let registered = "https://app.example/cb"

    @Test(arguments: [
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb"), ("http://127.0.0.1/cb", "http://127.0.0.1/cb"),
        ("http://127.0.0.1:4000/cb", "http://127.0.0.1:51004/cb"), ("http://127.0.0.1/", "http://127.0.0.1:7777/"),
        ("http://127.0.0.1", "http://127.0.0.1:1024"), ("http://127.0.0.1/cb?a=1", "http://127.0.0.1:51004/cb?a=1"),
        ("http://[::1]/cb", "http://[::1]:51004/cb"), ("http://localhost/callback", "http://localhost:53211/callback"),
        ("com.example.app:/cb", "com.example.app:/cb"), ("https://app.example/cb", "https://app.example/cb"),
        ("https://app.example/cb?foo=bar", "https://app.example/cb?foo=bar"),
        ("https://app.example:8443/cb", "https://app.example:8443/cb"),
    ])
    func `a response goes to a registered URI, with the requested port`(registered: String, sent: String)
        async throws
    {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: [registered])
        let attempt = Attempt(test, by: client, at: sent)
        let reply = try await attempt.authorize()
        let destination = try reply.destination
        #expect(destination.hasPrefix(sent + (sent.contains("?") ? "&code=" : "?code=")))
        #expect(try await test.redeem(attempt.exchange(reply.code)).status == .ok)
    }

    // RFC 6749 §4.1.2.1
    @Test(arguments: [
        (registered, "https://evil.example/cb"), (registered, "https://app.example/cb/x"),
        (registered, "https://app.example/cb/"), (registered, "https://app.example/CB"),
        (registered, "https://APP.example/cb"), (registered, "HTTPS://app.example/cb"),
        (registered, "http://app.example/cb"), (registered, "https://app.example:8443/cb"),
        (registered, "https://app.example:443/cb"), (registered, "https://app.example/cb#x"),
        (registered, "https://app.example/cb%23x"), (registered, "https://app.example/cb?x=1"),
        (registered, "https://app.example/cb?"), (registered, "https://app.example/%63b"),
        (registered, "https://app.example/x/../cb"), (registered, "https://app.example.evil.example/cb"),
        (registered, "https://evil.example/https://app.example/cb"),
        (registered, "https://app.example@evil.example/cb"),
        (registered, "https://app.example./cb"), (registered, "https://app.example"),
        ("https://app.example/cb?foo=bar", "https://app.example/cb?foo=baz"),
        ("https://app.example/cb?foo=bar", "https://app.example/cb?foo=bar&foo=2"),
        ("https://app.example/cb?foo=bar", "https://app.example/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5000/evil"), ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb?x=1"),
        ("http://127.0.0.1/cb", "http://localhost:5000/cb"), ("http://127.0.0.1/cb", "http://[::1]:5000/cb"),
        ("http://localhost/cb", "http://127.0.0.1:5000/cb"), ("http://127.0.0.1/cb", "https://127.0.0.1:5000/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example:5000/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5000/CB"),
        ("com.example.app:/cb", "com.example.app:/other"), ("com.example.app:/cb", "com.example.app://cb"),
        ("com.example.app:/cb", "COM.example.app:/cb"), ("com.example.app:/cb", "com.evil.app:/cb"),
        (registered, "javascript:alert(1)"), (registered, "data:text/html,x"), (registered, "vbscript:x"),
        (registered, "file:///etc/passwd"), (registered, "about:blank"), (registered, "blob:https://app.example/cb"),
        (registered, "filesystem:https://app.example/cb"), (registered, "/cb"), (registered, "//evil.example/cb"),
        (registered, "https://app.example/cb\r\nLocation: https://evil.example"),
        (registered, "https://app.example/cb é"),
    ])
    func `a request with any other URI redirects nowhere`(registered: String, sent: String) async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: [registered])
        try await expectPage(Attempt(test, by: client, at: sent), hiding: "evil")
    }

    // The port of a development redirect URI matches as registered; without one, any port matches.
    @Test(
        arguments: [ClientType.web, .singlePage],
        [
            ("http://localhost:5173/cb", "http://localhost:5173/cb", true),
            ("http://localhost/cb", "http://localhost:5173/cb", true),
            ("http://localhost/cb", "http://localhost/cb", true),
            ("http://127.0.0.1", "http://127.0.0.1:3000", true),
            ("http://[::1]/cb?a=1", "http://[::1]:3000/cb?a=1", true),
            ("http://localhost:5173/cb", "http://localhost:5174/cb", false),
            ("http://localhost:5173/cb", "http://localhost/cb", false),
            ("http://localhost:80/cb", "http://localhost/cb", false),
            ("http://localhost:5173/cb", "http://127.0.0.1:5173/cb", false),
            ("http://localhost:5173/cb", "http://[::1]:5173/cb", false),
            ("http://127.0.0.1/cb", "http://localhost:5173/cb", false),
            ("http://[::1]/cb", "http://127.0.0.1:5173/cb", false),
            ("http://localhost:5173/cb", "https://localhost:5173/cb", false),
            ("http://localhost:5173/cb", "http://localhost:5173/cb/", false),
            ("http://localhost:5173/cb", "http://localhost:5173/CB", false),
            ("http://localhost/cb", "http://localhost:5173/evil", false),
            ("http://localhost/cb", "http://localhost:0/cb", false),
            ("http://localhost/cb", "http://localhost:70000/cb", false),
            ("http://localhost/cb", "http://localhost:/cb", false),
            ("http://localhost/cb", "http://evil@localhost:5173/cb", false),
            ("http://localhost/cb", "http://localhost.evil.example:5173/cb", false),
            ("http://localhost/cb", "http://localhost:5173@evil.example/cb", false),
        ])
    func `a development redirect URI matches only its registered port`(
        type: ClientType, uri: (registered: String, sent: String, matches: Bool)
    ) async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", type: type, redirectURIs: [uri.registered])
        let attempt = Attempt(test, by: client, at: uri.sent)
        guard uri.matches else { return try await expectPage(attempt, hiding: "evil") }
        let separator = uri.sent.contains("?") ? "&" : "?"
        #expect(try await attempt.authorize().destination.hasPrefix("\(uri.sent)\(separator)code="))
    }

    // A redirect URI of another client is as foreign as any other.
    @Test func `the redirect URI of another client is refused`() async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: [Self.registered])
        _ = try await test.register("Scrapbook", redirectURIs: ["https://scrapbook.example/cb"])
        try await expectPage(Attempt(test, by: client, at: "https://scrapbook.example/cb"), hiding: "scrapbook")
    }

    @Test func `a redirect URI of 64 KiB is refused`() async throws {
        let test = try await TestServer()
        let long = "http://127.0.0.1:51004/callback" + String(repeating: "a", count: 65536)
        try await expectPage(Attempt(test, at: long), hiding: "aaaa")
    }

    // The parameter is absent in both requests, with one registered URI.
    @Test(arguments: ["https://app.example/cb", "com.example.app:/cb", "http://127.0.0.1:4000/cb"])
    func `without redirect_uri the only registered one is used`(registered: String) async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: [registered])
        for sent in [nil, ""] {
            let attempt = Attempt(test, by: client, at: sent)
            let reply = try await attempt.authorize()
            #expect(try reply.destination.hasPrefix(registered + "?code="))
            let exchange = attempt.exchange(try reply.code).setting("redirect_uri", to: nil)
            #expect(await test.redeem(exchange).status == .ok)
        }
    }

    // The parameter is absent, and it is ambiguous which URI is meant.
    @Test(arguments: [
        (["https://app.example/cb", "https://app.example/other"], "photos.read"),
        (["http://127.0.0.1/cb"], "photos.read"), (["http://localhost/cb"], "photos.read"),
        (["http://[::1]/cb"], "photos.read"),
        (["https://app.example/cb"], "openid"), (["https://app.example/cb"], "photos.read openid"), ([], "photos.read"),
    ])
    func `without redirect_uri an ambiguous request shows a page`(registered: [String], scope: String) async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: registered)
        try await expectPage(Attempt(test, by: client, at: nil, for: scope))
    }

    // Among them an https URI beside the scheme as a fallback.
    @Test(arguments: ["https://app.example/cb", "com.example.app:/cb"])
    func `each of two registered URIs can be used`(sent: String) async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Darkroom", redirectURIs: ["https://app.example/cb", "com.example.app:/cb"])
        #expect(try await Attempt(test, by: client, at: sent).authorize().destination.hasPrefix(sent + "?code="))
    }

    // In either order, no response goes to a repeated parameter.
    @Test(arguments: [
        ("redirect_uri", "https://evil.example/cb"), ("redirect_uri", "http://127.0.0.1:51004/callback"),
        ("client_id", "app_darkroom"), ("client_id", "app_lightbox"),
    ])
    func `a repeated client_id or redirect_uri is refused in any order and place`(
        name: String, value: String
    )
        async throws
    {
        let test = try await TestServer()
        _ = try await test.register("Darkroom", redirectURIs: ["http://127.0.0.1/callback"])
        let attempt = Attempt(test)
        try await expectPage(attempt.adding(name, value), hiding: "evil")
        var first = attempt
        first.request = FormParameters([.init(name: name, value: value)] + attempt.request.pairs)
        try await expectPage(first, hiding: "evil")

        let reply = await test.send(
            .post, to: .authorization, query: FormParameters([name: value]).encoded,
            fields: [.contentType: "application/x-www-form-urlencoded"], body: Array(attempt.request.encoded.utf8)
        )
        try expectPage(reply, hiding: "evil")
    }

    @Test(arguments: [nil, "", "app_unknown", "APP_LIGHTBOX", "app_lightbox ", "a\nb", "' OR 1=1 --"])
    func `without a registered client nothing is redirected`(clientID: String?) async throws {
        let test = try await TestServer()
        try await expectPage(Attempt(test, at: "https://evil.example/cb").with("client_id", clientID), hiding: "evil")
    }

    // The server's own origin is never a target, under any host name of the device.
    @Test(arguments: ["http://127.0.0.1:8080/callback", "http://localhost:8080/callback", "http://[::1]:8080/callback"])
    func `the server itself is refused although the port is free`(sent: String) async throws {
        let test = try await TestServer(issuer: "http://127.0.0.1:8080")
        let client = try await test.register(
            "Darkroom",
            redirectURIs: ["http://127.0.0.1/callback", "http://localhost/callback", "http://[::1]/callback"]
        )
        try await expectPage(Attempt(test, by: client, at: sent))
        let other = Attempt(test, by: client, at: sent.replacing("8080", with: "8081"))
        #expect(try await other.authorize().destination.contains(":8081/callback?code="))
        let web = try await test.register("Gallery", type: .web, redirectURIs: client.redirectURIs.map(\.rawValue))
        try await expectPage(Attempt(test, by: web, at: sent))
    }

    private func expectPage(_ attempt: Attempt, hiding text: String = "evil") async throws {
        try expectPage(try await attempt.firstReply(), hiding: text)
        var signedIn = attempt.test.browser()
        _ = try await Attempt(attempt.test).authorize(with: &signedIn)
        try expectPage(try await signedIn.open(attempt.url), hiding: text)
    }

    /// A page of status 400 that redirects nowhere and reflects nothing of the redirect URI.
    private func expectPage(_ reply: Reply, hiding text: String) throws {
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        let page = try reply.problemPage
        #expect(page.status == 400)
        for shown in [page.title, page.explanation, page.advice] { #expect(!shown.contains(text)) }
    }
}
