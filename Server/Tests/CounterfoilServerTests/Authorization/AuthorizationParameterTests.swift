import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The parameters of the authorization endpoint except the redirect URI: errors go to the client.
struct AuthorizationParameterTests {
    // There is no implicit grant, and no URL ever
    // contains a token.
    @Test(arguments: [
        (nil, OAuthError.Code.invalidRequest), ("", .invalidRequest), ("token", .unsupportedResponseType),
        ("id_token token", .unsupportedResponseType), ("id_token", .unsupportedResponseType),
        ("code token", .unsupportedResponseType), ("code id_token", .unsupportedResponseType),
        ("none", .unsupportedResponseType), ("code ", .unsupportedResponseType), ("CODE", .unsupportedResponseType),
        ("code code", .unsupportedResponseType),
    ])
    func `any response type except code is refused`(value: String?, code: OAuthError.Code) async throws {
        let attempt = Attempt(try await TestServer(), for: "openid").with("response_type", value)
        let reply = try await attempt.firstReply()
        #expect(try reply.redirectedError.code == code)
        #expect(try !reply.destination.contains("#"))
        #expect(try !reply.destination.contains("token="))
    }

    // RFC 7636 §4.4.1: the
    // same for every kind of redirect URI.
    @Test(arguments: [
        ("http://127.0.0.1:51004/callback", ClientType.native), ("http://[::1]:51004/callback", .native),
        ("http://localhost:51004/callback", .native), ("com.example.app:/cb", .native),
        ("https://app.example/cb", .native),
        ("https://app.example/cb", .singlePage), ("https://app.example/cb", .web),
    ])
    func `a request without a challenge is refused`(address: String, type: ClientType) async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", type: type, redirectURIs: [address])
        let attempt = Attempt(test, by: client, at: address)
            .with("code_challenge", nil).with("code_challenge_method", nil)
        let error = try await attempt.error()
        #expect(error.code == .invalidRequest)
        // The description names the parameter, the policy and the setting.
        let description = try #require(error.description)
        #expect(description.hasPrefix("code_challenge"))
        #expect(description.contains("is missing: this client must use PKCE (S256)") != (type == .web))
        #expect(description.hasSuffix("this is the setting PKCE in its registration (app edit --pkce)"))
        #expect(try await Attempt(test, by: client, at: address).authorize().code.exposed.utf8.count == 43)
    }

    @Test(arguments: [
        ("code_challenge_method", "plain"), ("code_challenge_method", nil), ("code_challenge_method", ""),
        ("code_challenge_method", "s256"), ("code_challenge_method", "S512"), ("code_challenge_method", "S256 "),
        ("code_challenge_method", "S256\0"), ("code_challenge", ""), ("code_challenge", nil),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cMM"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM="),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw/cM"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstwécM"),
    ])
    func `an invalid S256 challenge is refused`(name: String, value: String?) async throws {
        let attempt = Attempt(try await TestServer()).with(name, value)
        #expect(try await attempt.error().code == .invalidRequest)
    }

    @Test(arguments: [
        "response_type", "scope", "state", "code_challenge", "code_challenge_method", "nonce", "prompt", "max_age",
    ])
    func `a repeated parameter is refused`(name: String) async throws {
        let attempt = Attempt(try await TestServer()).adding(name, "1").adding(name, "2")
        let reply = try await attempt.firstReply()
        #expect(try reply.redirectedError.code == .invalidRequest)
        let state = try reply.authorizationResponse.state
        #expect(state?.exposed == (name == "state" ? nil : "af0ifjsldkj"))
    }

    // Decoded once and returned byte for byte, on success and on error.
    @Test(arguments: [
        "x", "a b+c%20d&e=f#g", "\r\nSet-Cookie: x=1", "\"><script>alert(1)</script>", "&error=access_denied", "%2526",
        "📷🏳️‍🌈 é", String(repeating: "s", count: 4096), String(repeating: "📷", count: 2048), "\0", " ", "=", "&",
        "?code=x",
        String(decoding: UInt8(0x20)...0x7E, as: UTF8.self) + String(repeating: "v", count: 417),
    ])
    func `the state is returned unchanged`(state: String) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test).with("state", state)
        let allowed = try await attempt.authorize()
        #expect(try allowed.authorizationResponse.state?.exposed == state)
        let refused = try await attempt.with("scope", "unknown").firstReply()
        #expect(try refused.authorizationResponse.state?.exposed == state)
        for reply in [allowed, refused] {
            #expect(try reply.destination.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            #expect(reply.cookies.isEmpty)
        }
    }

    // RFC 6749 §4.1.2.1: the error response contains the state, or the client could not tell its request.
    @Test(arguments: [8193, 20_000])
    func `a state that is too long is refused, and returned`(length: Int) async throws {
        let state = String(repeating: "s", count: length - 2) + "é"
        let destination = try await Attempt(try await TestServer()).with("state", state).firstReply().destination
        let response = try FormParameters(parsing: String(destination.drop { $0 != "?" }.dropFirst()))
        #expect(try response.single("error") == "invalid_request")
        #expect(try response.single("state") == state)
    }

    @Test func `a request that is too long is refused`() async throws {
        let attempt = Attempt(try await TestServer())
        let reply = try await attempt.with("state", String(repeating: "s", count: 100_000)).firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
    }

    // The registration of a client decides whether `state` is required for those
    // that send none.
    @Test func `state is required of clients that must send it`() async throws {
        let test = try await TestServer()
        let strict = try await test.register("Strict", redirectURIs: ["https://app.example/cb"], requiresState: true)
        for state in [nil, ""] {
            let attempt = Attempt(test, by: strict, at: "https://app.example/cb").with("state", state)
            let error = try await attempt.error()
            #expect(error.code == .invalidRequest)
            #expect(
                error.description == "state is missing: this client must send it; this is the setting Require state "
                    + "in its registration (app edit --require-state)")
        }
        // RFC 9700 §4.7.1: PKCE or OpenID's nonce protects the request of a new client of any type.
        for type in ClientType.allCases { #expect(!ClientPolicy.standard(for: type).requiresState) }
        let free = try await test.register("Free", redirectURIs: ["https://app.example/cb"], requiresState: false)
        let reply = try await Attempt(test, by: free, at: "https://app.example/cb").with("state", nil).authorize()
        #expect(try reply.authorizationResponse.state == nil)
        #expect(try !reply.destination.contains("state="))
    }

    @Test(arguments: [
        "unknown", "photos.delete", "photos.read photos.delete", "OPENID", "photos.read\topenid",
        "photos.read\"", "photos\\read", "photos.read\0", " ",
        Array(repeating: "photos.read", count: 1000).joined(separator: " "),
    ])
    func `a scope that is not registered for the client is refused`(scope: String) async throws {
        let attempt = Attempt(try await TestServer(), for: scope)
        #expect(try await attempt.error().code == .invalidScope)
    }

    // The order does not matter, and a repeated scope counts once.
    @Test(arguments: [
        ("photos.write photos.read", "photos.write photos.read"), ("photos.read photos.read", "photos.read"),
        ("photos.read", "photos.read"), (nil, "photos.read photos.write"), (" photos.read", "photos.read"),
        ("photos.read ", "photos.read"), ("photos.write  photos.read ", "photos.write photos.read"),
    ])
    func `the granted scope equals the requested one`(asked: String?, granted: String) async throws {
        let tokens = try await Attempt(try await TestServer(), for: asked).tokens()
        #expect(tokens.scope?.description == granted)
    }

    @Test func `the order of the parameters does not matter`() async throws {
        var attempt = Attempt(try await TestServer(), for: "photos.read openid")
        attempt.request = FormParameters(attempt.request.pairs.reversed())
        #expect(try await attempt.tokens().idToken != nil)
    }

    @Test(arguments: [
        ("response_mode", "fragment", OAuthError.Code.invalidRequest), ("claims", "[", .invalidRequest),
        ("response_mode", "query.jwt", .invalidRequest), ("response_mode", "web_message", .invalidRequest),
        ("prompt", "none login", .invalidRequest), ("max_age", "-1", .invalidRequest),
        ("max_age", "abc", .invalidRequest),
        ("max_age", "99999999999999999999", .invalidRequest),
        ("request", "eyJhbGciOiJub25lIn0.e30.", .requestNotSupported),
        ("request_uri", "https://x.example/r", .requestURINotSupported),
        ("request_uri", "http://169.254.169.254/", .requestURINotSupported),
        ("request_uri", "urn:example:x", .requestURINotSupported),
        ("registration", "{}", .registrationNotSupported),
    ])
    func `an unsupported value is reported`(name: String, value: String, code: OAuthError.Code) async throws {
        #expect(try await Attempt(try await TestServer()).with(name, value).error().code == code)
    }

    // Unknown parameters are ignored; nothing is fetched or looked up.
    @Test(arguments: [
        ("extra", "foobar"), ("ui_locales", "../../etc/passwd"), ("display", "x"), ("login_hint", "' OR 1=1"),
        ("response_mode", "query"), ("acr_values", "x"), ("prompt", "dance"), ("extra", "<script>"),
        ("sign_in_ticket", "x"),
    ])
    func `a parameter without effect changes nothing`(name: String, value: String) async throws {
        #expect(try await Attempt(try await TestServer()).with(name, value).tokens().isBearer)
    }

    // A hint is prefilled as plain text and truncated.
    @Test func `the login hint fills the user name field`() async throws {
        let test = try await TestServer()
        let hint = "<script>alert(1)</script>"
        #expect(try await Attempt(test).with("login_hint", hint).firstReply().signInPage.username == hint)
        let long = String(repeating: "x", count: 1000)
        #expect(try await Attempt(test).with("login_hint", long).firstReply().signInPage.username.count == 320)
    }

    // GET with a query and POST with a form are the same request.
    @Test func `a request can be sent by POST`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        var browser = test.browser()
        var reply = try await browser.submit(attempt.request, to: "/oauth2/authorize")
        reply = try await browser.signIn(on: reply, username: "alice", password: TestServer.password)
        reply = try await browser.decide(.allow, on: reply)
        #expect(try await test.redeem(attempt.exchange(reply.code)).status == .ok)
    }

    @Test(arguments: ["application/json", "text/plain", "multipart/form-data; boundary=x", nil])
    func `a request in another content type is refused`(type: String?) async throws {
        let test = try await TestServer()
        let reply = await test.send(
            .post, to: .authorization, fields: type.map { [.contentType: $0] } ?? [:],
            body: Array(Attempt(test).request.encoded.utf8)
        )
        #expect(reply.status == .badRequest)
        #expect(try reply.problemPage.status == 400)
    }

    // No page of the server allows scripts of other origins.
    @Test func `no response to a browser allows another origin`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        browser.fields = [.origin: "https://evil.example"]
        for url in [Attempt(test).url, Attempt(test).with("client_id", "x").url, Attempt(test).with("scope", "x").url] {
            let reply = try await browser.open(url)
            #expect(reply.fields[.accessControlAllowOrigin] == nil)
            #expect(!reply.fields.contains { $0.name.canonicalName.hasPrefix("access-control-") })
        }
    }

    // RFC 9207 §2: `iss` is in every authorization response, also in errors.
    @Test func `every response names the issuer`() async throws {
        let test = try await TestServer(issuer: "https://id.example.com/tenant1")
        #expect(try await Attempt(test).authorize().authorizationResponse.issuer == "https://id.example.com/tenant1")
        let refused = try await Attempt(test).with("scope", "x").firstReply()
        #expect(try refused.authorizationResponse.issuer == "https://id.example.com/tenant1")
        #expect(refused.status == .seeOther)
        let others = [
            try await Attempt(test).with("prompt", "none").firstReply(),
            try await Attempt(test).adding("resource", "relative").firstReply(),
            try await Attempt(test).with("request", "e30.e30.").firstReply(),
            try await Attempt(test).with("response_type", "token").firstReply(),
            try await Attempt(test).with("response_mode", "form_post").with("scope", "x").firstReply(),
            try await PushedAttempt(Attempt(test)).authorize(decision: .deny),
        ]
        for reply in others {
            #expect(try reply.authorizationResponse.issuer == "https://id.example.com/tenant1")
        }
    }
}
