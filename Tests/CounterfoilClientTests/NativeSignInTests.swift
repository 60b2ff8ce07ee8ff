import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of complete sign-ins over real connections against a scripted server.
@Suite(.timeLimit(.minutes(2)))
struct NativeSignInTests {
    static func signIn(
        at server: ScriptedAuthorizationServer,
        scope: String = "openid photos.read",
        browser: any BrowserLauncher = ScriptedBrowser()
    ) throws -> NativeSignIn {
        var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: scope)
        signIn.browser = browser
        signIn.timeout = .seconds(60)
        return signIn
    }

    /// Returns the error of a sign-in at a scripted server.
    func failure(_ script: ServerScript, scope: String = "openid") async throws -> SignInError? {
        let failure = Mutex<SignInError?>(nil)
        try await ScriptedAuthorizationServer.run(script) { server in
            do {
                _ = try await Self.signIn(at: server, scope: scope).run()
            } catch let error as SignInError {
                failure.withLock { $0 = error }
            }
        }
        return failure.withLock { $0 }
    }

    @Test func `a sign-in ends with tokens, and the token request is exactly that of the standard`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            let browser = ScriptedBrowser()
            let credentials = try await Self.signIn(at: server, browser: browser).run()
            #expect(server.accessTokens == [credentials.accessToken.exposed])
            #expect(credentials.user?.subject == "alice")
            #expect(credentials.scope.description == "openid photos.read")
            #expect(!credentials.isExpired())
            #expect(try await browser.pages().map(\.statusCode) == [200])

            let authorization = try #require(server.requests(to: .authorization).first?.query)
            let request = try #require(server.requests(to: .token).first)
            let form = request.form
            #expect(request.method == .post)
            #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
            #expect(request.headerFields[.accept] == "application/json")
            #expect(request.authorization == nil)
            #expect(!(request.head.path ?? "").contains("?"))
            #expect(
                form.names.sorted() == ["client_id", "code", "code_verifier", "grant_type", "redirect_uri"])
            #expect(form["grant_type"] == "authorization_code")
            #expect(form["client_id"] == "lightbox")
            #expect(form["redirect_uri"] == authorization["redirect_uri"])
            let text = try #require(form["code_verifier"])
            let verifier = try #require(CodeVerifier(text))
            #expect(CodeChallenge(of: verifier).rawValue == authorization["code_challenge"])
        }
    }

    // The browser carries the code and nothing else.
    @Test func `no token and no verifier reaches the user agent`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let browser = ScriptedBrowser()
            let credentials = try await Self.signIn(at: server, browser: browser).run()
            let verifier = try #require(server.requests(to: .token).first?.form["code_verifier"])
            let refreshToken = try #require(credentials.refreshToken?.exposed)
            var seen = try await browser.pages().map { String(decoding: $0.body, as: UTF8.self) + "\($0.head)" }
            seen += server.requests(to: .authorization).map { $0.text + "\($0.head)" }
            #expect(seen.count == 2)
            for secret in [refreshToken, credentials.accessToken.exposed, verifier] {
                #expect(!seen.contains { $0.contains(secret) })
            }
        }
    }

    // An app that does not use refresh tokens stores none, although the server issues one.
    @Test func `a refresh token is dropped on request`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try Self.signIn(at: server)
            signIn.options.keepsRefreshToken = false
            let credentials = try await signIn.run()
            let issued = try #require(server.refreshTokens.last)
            #expect(credentials.refreshToken == nil)
            #expect(!String(decoding: try JSONEncoder().encode(credentials), as: UTF8.self).contains(issued))
        }
    }

    // RFC 9110 §6.6.1; OpenID Connect Core §3.1.3.7 points 9 and 10, by the clock of the issuer.
    @Test(arguments: [Misbehavior.clockAhead, .clockBehind])
    func `a sign-in and a refresh work with a server clock that is 15 minutes off`(
        misbehavior: Misbehavior
    ) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let credentials = try await Self.signIn(at: server).run()
            try await store.save(credentials, as: .standard)
            let life = try #require(credentials.expires?.timeIntervalSinceNow)
            #expect((3500...3600).contains(life))
            let fresh = try await TokenSession(ofAnyClientIn: store).refreshed(replacing: credentials.accessToken)
            #expect(fresh.user?.subject == "alice")
        }
    }

    // RFC 9110 §6.6.1: a clock that is hours off is not trusted.
    @Test func `an ID token that expired long ago is rejected despite a wrong clock`() async throws {
        var script = ServerScript()
        script.clockOffset = -7200
        guard case .unsafe(.clock(_, .expired))? = try await failure(script) else {
            Issue.record("it was taken")
            return
        }
    }

    @Test func `a redirect URI omitted from the first request is omitted from the second`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let receiver = try await LoopbackReceiver.listen()
            let configuration = try await MetadataDiscovery(transport: .standard).configuration(of: server.issuer)
            var options = NativeSignIn.Options()
            options.omitsRedirectURI = true
            let attempt = AuthorizationAttempt(
                at: configuration, clientID: try #require(ClientIdentifier("lightbox")),
                redirectURI: receiver.redirectURI, scope: Scope(), options: options)
            let state = try FormParameters(parsing: String(attempt.authorizationURL.drop { $0 != "?" }.dropFirst()))
                .single("state")
            let callback = AuthorizationCallback(
                at: receiver.redirectURI,
                parameters: FormParameters(["code": "c", "state": state ?? "", "iss": server.issuer.rawValue]))
            let code = try attempt.complete(with: callback)
            // The code is invalid; the test only looks at the request.
            _ = try? await AuthorizationCodeExchange(transport: .standard).exchange(code)
            let form = try #require(server.requests(to: .token).first?.form)
            #expect(form["redirect_uri"] == nil)
            await receiver.close()
        }
    }

    @Test func `a second sign-in shares nothing with the first, also after a failure`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            let signIn = try Self.signIn(at: server)
            for _ in 0..<3 { _ = try await signIn.run() }
            for name in ["state", "nonce", "code_challenge"] {
                let values = server.requests(to: .authorization).map { $0.query[name] }
                #expect(Set(values).count == 3, "\(name)")
            }
        }
    }

    // The wait continues although a page sends forged responses.
    @Test func `a forged response is ignored, and the real one is still accepted`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let browser = ScriptedBrowser(beforeCallback: { callback in
                let base = String(callback.prefix { $0 != "?" })
                for forged in ["code=evil", "code=evil&state=guess", "error=access_denied&state="] {
                    let page = try await StandardTransport()
                        .send(TransportRequest(EndpointURL("\(base)?\(forged)")))
                    #expect(page.statusCode == 400)
                }
            })
            let credentials = try await Self.signIn(at: server, browser: browser).run()
            #expect(server.accessTokens == [credentials.accessToken.exposed])
            #expect(server.requests(to: .token).count == 1)
        }
    }

    // The port is closed before the token request.
    @Test func `after a sign-in no port is open`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let port = Mutex<Int?>(nil)
            let browser = ScriptedBrowser(beforeCallback: { callback in
                let uri = try AbsoluteURI(parsing: callback)
                port.withLock { $0 = uri.port }
            })
            _ = try await Self.signIn(at: server, browser: browser).run()
            let closed = try #require(port.withLock { $0 })
            #expect(!RawConnection.isOpen(port: closed))
        }
    }

    // RFC 9207 §2.4: after a mix-up, the code is not sent to any server.
    @Test func `a response that names another server causes no token request`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.wrongIssuer)) { server in
            await #expect(throws: SignInError.unsafe(.callback(.wrongIssuer))) {
                try await Self.signIn(at: server).run()
            }
            #expect(server.requests(to: .token).isEmpty)
        }
    }

    @Test(arguments: [
        (
            "{\"error\":\"invalid_grant\",\"error_description\":\"too late\"}",
            SignInError.refused(OAuthError(.invalidGrant, "too late"))
        ),
        ("{\"error\":\"server_error\"}", .unavailable(.error(OAuthError(.serverError)))),
        ("<!doctype html>", .unsafe(.tokenResponse(.unreadable))),
        ("", .unsafe(.tokenResponse(.unreadable))),
        ("[]", .unsafe(.tokenResponse(.unreadable))),
        ("{\"access_token\":\"a\"}", .unsafe(.tokenResponse(.unknownTokenType))),
        ("{\"token_type\":\"Bearer\"}", .unsafe(.tokenResponse(.unreadable))),
        ("{\"access_token\":\"a\",\"token_type\":\"mac\"}", .unsafe(.tokenResponse(.unknownTokenType))),
        ("{\"access_token\":\"a b\",\"token_type\":\"Bearer\"}", .unsafe(.tokenResponse(.unreadable))),
        ("{\"access_token\":\"a\\r\\nX: y\",\"token_type\":\"Bearer\"}", .unsafe(.tokenResponse(.unreadable))),
        ("{\"access_token\":7,\"token_type\":\"Bearer\"}", .unsafe(.tokenResponse(.unreadable))),
    ])
    func `an invalid response with the status 200 is detected`(body: String, expected: SignInError) async throws {
        var script = ServerScript()
        script.interruptions = [Interruption(at: .token, .json(body))]
        #expect(try await failure(script, scope: "photos.read") == expected)
    }

    @Test(arguments: [Misbehavior.doubledTokens, .deepTokens])
    func `an ambiguous token response is rejected`(misbehavior: Misbehavior) async throws {
        #expect(try await failure(ServerScript(misbehavior)) == .unsafe(.tokenResponse(.unreadable)))
    }

    @Test func `ten thousand keys are not read`() async throws {
        guard case .unsafe(.transport(.tooLarge))? = try await failure(ServerScript(.tenThousandKeys)) else {
            Issue.record("they were read")
            return
        }
    }

    @Test func `a lifetime written as a string is parsed, and a missing one is unknown`() async throws {
        for (expiresIn, isKnown) in [(.text, true), (.raw("null"), false), (.absent, false)]
            as [(TokenScript.Lifetime, Bool)]
        {
            var script = ServerScript()
            script.tokens.expiresIn = expiresIn
            try await ScriptedAuthorizationServer.run(script) { server in
                let credentials = try await Self.signIn(at: server).run()
                #expect((credentials.expires != nil) == isKnown)
            }
        }
    }

    @Test func `a response of 50 MB is not read to its end`() async throws {
        guard case .unsafe(.transport(.tooLarge)) = try await failure(ServerScript(.hugeTokens), scope: "photos.read")
        else {
            Issue.record("it was read")
            return
        }
    }

    @Test(arguments: [(400, "refused"), (401, "refused"), (404, "unsafe"), (429, "unavailable"), (503, "unavailable")])
    func `the status determines whether a retry helps`(status: Int, kind: String) async throws {
        var script = ServerScript()
        script.interruptions = [
            Interruption(at: .token, status == 404 ? .html(status: 404) : .refusal("invalid_client", status: status))
        ]
        let actual: String? =
            switch try await failure(script, scope: "photos.read") {
            case .refused(OAuthError(.invalidClient)): "refused"
            case .unsafe(.tokenResponse(.unreadableRefusal(404))): "unsafe"
            case .unavailable(.status(status, _, _)), .unavailable(.error): "unavailable"
            case let other: "\(String(describing: other))"
            }
        #expect(actual == kind)
    }

    @Test(arguments: [302, 307, 308])
    func `the code is not sent along a redirect of the token endpoint`(status: Int) async throws {
        try await ScriptedAuthorizationServer.run { evil in
            var script = ServerScript()
            script.interruptions = [
                Interruption(at: .token, .redirect(to: evil.url(of: .token), status: status))
            ]
            try await ScriptedAuthorizationServer.run(script) { server in
                await #expect(throws: SignInError.unsafe(.redirected(origin: server.issuer.origin))) {
                    try await Self.signIn(at: server).run()
                }
            }
            #expect(evil.requests.isEmpty)
        }
    }

    @Test func `a refusal by the user is reported, and the page says so`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.deniesAccess)) { server in
            let browser = ScriptedBrowser()
            await #expect(throws: SignInError.refused(OAuthError(.accessDenied, "the user denied access"))) {
                try await Self.signIn(at: server, browser: browser).run()
            }
            #expect(server.requests(to: .token).isEmpty)
        }
    }

    @Test func `a sign-in without a response times out and says what may be wrong`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try Self.signIn(at: server, browser: NoBrowser())
            signIn.timeout = .milliseconds(50)
            let prepared = signIn
            await #expect(throws: SignInError.timedOut) { try await prepared.run() }
        }
    }

    @Test func `no event or description of a sign-in contains a secret`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let told = Mutex<[String]>([])
            let credentials = try await Self.signIn(at: server).run { event in
                told.withLock { $0.append("\(event)") }
            }
            var dumped = ""
            dump(credentials, to: &dumped)
            for text in told.withLock({ $0 }) + ["\(credentials)", dumped] {
                for secret in server.secrets {
                    #expect(!text.contains(secret))
                }
            }
            #expect(server.secrets.count >= 5)
            #expect(told.withLock { $0 }.count >= 4)
        }
    }

    @Test(arguments: [
        ("http://id.example.com", "a", "x"), ("https://id.example.com", "", "x"),
        ("https://id.example.com", "a", "a\tb"),
    ])
    func `unusable parameters are refused before any request`(issuer: String, clientID: String, scope: String) {
        let error = #expect(throws: SignInError.self) {
            try NativeSignIn(issuer: issuer, clientID: clientID, scope: scope)
        }
        guard case .unusable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
