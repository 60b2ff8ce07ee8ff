import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Sign-in to a web or single-page client at a development redirect URI.
struct DevelopmentConsentTests {
    private static let uri = "http://localhost:5173/callback"
    private static let secret = ClientSecret()

    /// Registers a client with a development redirect URI, and an https one beside it; a web client has a secret.
    private static func client(
        _ type: ClientType, of test: TestServer, at redirectURI: String = uri,
        policy change: (inout ClientPolicy) -> Void = { _ in }
    ) async throws -> RegisteredClient {
        var policy = ClientPolicy.standard(for: type)
        policy.isVouchedFor = true
        policy.requiresState = false
        change(&policy)
        return try await test.register(
            "Gallery", type: type, at: [redirectURI, "https://gallery.example/cb"], under: policy,
            secret: type.isConfidential ? secret : nil)
    }

    /// A browser in which alice is signed in.
    private static func browser(_ test: TestServer) async throws -> ScriptedUserAgent {
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        return browser
    }

    // RFC 8252 §8.6: a web client with a secret is asked about as well, each time.
    @Test(arguments: [ClientType.web, .singlePage])
    func `consent at a development redirect URI is asked for each time`(type: ClientType) async throws {
        let test = try await TestServer()
        let client = try await Self.client(type, of: test)
        var browser = try await Self.browser(test)
        for _ in 0..<2 {
            let attempt = Attempt(test, by: client, at: Self.uri)
            let page = try await browser.open(attempt.url)
            #expect(try page.consentPage.redirectDestination == .development(host: "localhost:5173"))
            let reply = try await browser.decide(.allow, on: page)
            #expect(try reply.destination.hasPrefix(Self.uri + "?code="))
            var exchange = attempt.exchange(try reply.code)
            if type.isConfidential { exchange.append("client_secret", Self.secret.exposed) }
            #expect(try await test.redeem(exchange).tokenResponse.scope?.description == "photos.read")
        }
    }

    // OpenID Connect Core §3.1.2.6. The request never leaves the device, so the error needs no button.
    @Test(arguments: [ClientType.web, .singlePage], [true, false])
    func `prompt=none at a development redirect URI is consent_required`(
        type: ClientType, isVouchedFor: Bool
    ) async throws {
        let test = try await TestServer()
        let client = try await Self.client(type, of: test) { $0.isVouchedFor = isVouchedFor }
        var browser = try await Self.browser(test)
        let attempt = Attempt(test, by: client, at: Self.uri)
        _ = try await browser.decide(.allow, on: try await browser.open(attempt.url))
        let reply = try await browser.open(attempt.with("prompt", "none").url)
        #expect(reply.status == .seeOther)
        #expect(reply.location?.hasPrefix(Self.uri + "?error=consent_required") == true)
    }

    // Registration refuses such a client; the sign-in does not rely on it.
    @Test(arguments: [ClientType.web, .singlePage])
    func `a first-party client needs consent at a development redirect URI`(type: ClientType) async throws {
        let test = try await TestServer()
        let client = try await Self.client(type, of: test) { $0.isFirstParty = true }
        let attempt = Attempt(test, by: client, at: Self.uri)
        var browser = test.browser()
        // Not even the password that was typed for this request replaces the consent.
        let signIn = try await browser.open(attempt.url)
        _ = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password)
        let page = try await browser.open(attempt.url)
        _ = try await browser.decide(.allow, on: page).code
        _ = try await browser.open(attempt.url).consentPage
        #expect(
            try await browser.open(attempt.with("prompt", "none").url).redirectedError.code == .consentRequired)
        let production = Attempt(test, by: client, at: "https://gallery.example/cb")
        #expect(try await browser.open(production.url).status == .seeOther)
    }

    // RFC 8252 §8.3
    @Test(arguments: [
        ("http://localhost:5173/cb", "http://localhost:5173/cb", "localhost:5173"),
        ("http://localhost/cb", "http://localhost:4321/cb", "localhost:4321"),
        ("http://127.0.0.1/cb", "http://127.0.0.1/cb", "127.0.0.1"),
        ("http://[::1]:3000/cb", "http://[::1]:3000/cb", "[::1]:3000"),
    ])
    func `the consent page says that the app runs on this device`(
        registered: String, sent: String, host: String
    ) async throws {
        let test = try await TestServer()
        let client = try await Self.client(.singlePage, of: test, at: registered)
        var browser = try await Self.browser(test)
        let page = try await browser.open(Attempt(test, by: client, at: sent).url)
        #expect(try page.consentPage.redirectDestination == .development(host: host))
        let html = try page.html().replacing("<bdi>", with: "").replacing("</bdi>", with: "")
        #expect(html.contains("This app runs on this device (\(host)), so it is under development."))
        #expect(html.contains("on <b>this device</b> (\(host))"))
    }

    // A registered URI that is switched off gives no code, no redirect, and an error that says so.
    @Test(arguments: [ClientType.web, .singlePage])
    func `a development redirect URI that is switched off matches no request`(type: ClientType) async throws {
        let test = try await TestServer { $0.allowsDevelopmentRedirectURIs = false }
        let client = try await Self.client(type, of: test)
        var browser = try await Self.browser(test)
        let attempt = Attempt(test, by: client, at: Self.uri)
        for url in [attempt.url, attempt.with("prompt", "none").url] {
            let reply = try await browser.open(url)
            #expect(reply.status == .badRequest)
            #expect(reply.location == nil)
            #expect(try reply.problemPage.explanation.contains("--no-development-redirect-uris"))
        }
        let production = Attempt(test, by: client, at: "https://gallery.example/cb")
        _ = try await browser.open(production.url).consentPage
        let native = Attempt(test)
        _ = try await browser.open(native.url).consentPage
    }

    // A page that was shown before the switch gives no code after it.
    @Test func `a consent page from before the switch gives no code`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let client = try await Self.client(.web, of: test)
        var browser = try await Self.browser(test)
        let form = try await browser.open(Attempt(test, by: client, at: Self.uri).url).consentPage.form(.allow)
        let off = try await TestServer(store: store) { $0.allowsDevelopmentRedirectURIs = false }
        var later = off.browser()
        later.cookies = browser.cookies
        let reply = try await later.submit(form, to: "/oauth2/authorize/consent")
        #expect((try? reply.code) == nil)
        #expect(reply.location == nil)
    }

    // OpenID Connect RP-Initiated Logout §3: the same rules for the redirect after sign-out.
    @Test(arguments: [
        ("http://localhost:5173/bye", "http://localhost:5173/bye", true, true),
        ("http://localhost:5173/bye", "http://localhost:5174/bye", true, false),
        ("http://localhost:5173/bye", "http://127.0.0.1:5173/bye", true, false),
        ("http://localhost/bye", "http://localhost:5174/bye", true, true),
        ("http://localhost:5173/bye", "http://localhost:5173/bye", false, false),
    ])
    func `the redirect after sign-out follows the rules of redirect URIs`(
        registered: String, sent: String, isAllowed: Bool, leads: Bool
    ) async throws {
        let test = try await TestServer { $0.allowsDevelopmentRedirectURIs = isAllowed }
        let client = try await Self.client(.singlePage, of: test)
        let uri = try RedirectURI(registered)
        try await test.change(client) { $0.postLogoutRedirectURIs = [uri] }
        var browser = test.browser()
        let attempt = Attempt(test, by: client, at: "https://gallery.example/cb", for: "openid")
        let token = try #require(try await attempt.tokens(in: &browser).idToken)
        let form = FormParameters(["id_token_hint": token.exposed, "post_logout_redirect_uri": sent])
        let reply = try await browser.open("/oauth2/logout?" + form.encoded)
        #expect(reply.location == (leads ? sent : nil))
    }
}
