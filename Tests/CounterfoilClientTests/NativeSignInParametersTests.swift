import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import TestSupport
import Testing

/// Tests of pushed requests, additional parameters and audiences of a sign-in.
@Suite(.timeLimit(.minutes(2)))
struct NativeSignInParametersTests {
    private static func signIn(
        at server: ScriptedAuthorizationServer, _ change: (inout NativeSignIn) -> Void = { _ in }
    ) throws -> NativeSignIn {
        var signIn = try PlayedProduct.signIn(at: server, scope: "openid photos.read")
        change(&signIn)
        return signIn
    }

    private static func pushing(_ answer: ScriptedAnswer, isRequired: Bool = false) -> ServerScript {
        var script = isRequired ? ServerScript(.requiresPushedRequests) : ServerScript()
        script.interruptions = [Interruption(at: .pushedAuthorization, answer)]
        return script
    }

    // RFC 9126 §5
    @Test(
        arguments: [
            .trouble(401), .html(status: 403), .html(status: 404), .trouble(405), .trouble(500), .trouble(503), .html(),
            .redirect(to: "https://portal.example.com"), .refusal("invalid_client", status: 401),
            .refusal("unauthorized_client"), .refusal("server_error", status: 500), .refusal("temporarily_unavailable"),
        ] as [ScriptedAnswer])
    func `a pushed request that fails is sent through the browser, unless the server requires it`(
        answer: ScriptedAnswer
    ) async throws {
        try await ScriptedAuthorizationServer.run(Self.pushing(answer)) { server in
            let isTold = Mutex(false)
            _ = try await Self.signIn(at: server).run { event in
                if case .notPushed = event { isTold.withLock { $0 = true } }
            }
            #expect(isTold.withLock { $0 })
            #expect(server.requests(to: .authorization).first?.query["request_uri"] == nil)
            await #expect(throws: SignInError.self) { try await Self.signIn(at: server) { $0.par = .always }.run() }
            #expect(server.requests(to: .authorization).count == 1)
        }
        try await ScriptedAuthorizationServer.run(Self.pushing(answer, isRequired: true)) { server in
            await #expect(throws: SignInError.self) { try await Self.signIn(at: server).run() }
            #expect(server.requests(to: .authorization).isEmpty)
        }
    }

    // RFC 9126 §2.3: the authorization endpoint would reject the same parameter.
    @Test(
        arguments: [
            .refusal("invalid_request", "redirect_uri"), .refusal("invalid_scope"), .refusal("invalid_target"),
            .refusal("access_denied"), .trouble(429, retryAfter: "9"),
        ] as [ScriptedAnswer])
    func `a pushed request whose parameters are rejected ends the sign-in at once`(
        answer: ScriptedAnswer
    ) async throws {
        try await ScriptedAuthorizationServer.run(Self.pushing(answer)) { server in
            await #expect(throws: SignInError.self) { try await Self.signIn(at: server).run() }
            #expect(server.requests(to: .authorization).isEmpty)
        }
    }

    /// The browser of a user who opens the URL by hand, or a browser that does not start.
    private struct Hand: BrowserLauncher {
        let isOutOfReach: Bool
        let outcome: BrowserLaunch

        func open(_ url: BrowserURL) async -> BrowserLaunch { outcome }
    }

    /// Signs in with the last URL that is shown, and returns the URLs and the lifetimes that were reported.
    private static func openedByHand(
        _ launcher: Hand, at server: ScriptedAuthorizationServer
    ) async throws -> (urls: [String], lifetimes: [Duration]) {
        let shown = Mutex<(urls: [BrowserURL], lifetimes: [Duration])>(([], []))
        let (opened, open) = AsyncStream.makeStream(of: BrowserURL.self)
        let user = Task { for await url in opened { _ = await ScriptedBrowser().open(url) } }
        _ = try await Self.signIn(at: server) { $0.browser = launcher }.run { event in
            switch event {
            case .opening(let url):
                let isLast = shown.withLock {
                    $0.urls.append(url)
                    return launcher.isOutOfReach || $0.urls.count == 2
                }
                if isLast { open.yield(url) }
            case .pushed(let lifetime): shown.withLock { $0.lifetimes.append(lifetime) }
            default: break
            }
        }
        open.finish()
        await user.value
        return shown.withLock { ($0.urls.map(\.rawValue), $0.lifetimes) }
    }

    // RFC 9126 §2.2: the user cannot open a pushed request after expires_in.
    @Test func `a request that the user carries to a browser is pushed only if the server requires it`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let hand = Hand(isOutOfReach: true, outcome: .notAttempted)
            let plain = try await Self.openedByHand(hand, at: server)
            #expect(server.requests(to: .pushedAuthorization).isEmpty)
            #expect(plain.lifetimes.isEmpty)
            #expect(plain.urls.count == 1 && !plain.urls.contains { $0.contains("request_uri=") })

            server.change { $0.authorization.requiresPushedRequest = true }
            let pushed = try await Self.openedByHand(hand, at: server)
            #expect(server.requests(to: .pushedAuthorization).count == 1)
            #expect(pushed.lifetimes == [.seconds(60)])
            #expect(pushed.urls.count == 1 && pushed.urls.allSatisfy { $0.contains("request_uri=") })
        }
    }

    @Test func `if the browser does not start, the user gets a URL that does not expire`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let shown = try await Self.openedByHand(
                Hand(isOutOfReach: false, outcome: .failed("no browser")), at: server)
            #expect(shown.lifetimes == [.seconds(60)])
            #expect(shown.urls.map { $0.contains("request_uri=") } == [true, false])
        }
    }

    @Test func `a client can decline pushed requests`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            _ = try await Self.signIn(at: server) { $0.par = .never }.run()
            #expect(server.requests(to: .pushedAuthorization).isEmpty)
            server.change { $0.authorization.requiresPushedRequest = true }
            let error = await #expect(throws: SignInError.self) {
                try await Self.signIn(at: server) { $0.par = .never }.run()
            }
            #expect("\(String(describing: error))".contains("requires pushed authorization requests"))
            #expect(server.requests(to: .authorization).count == 1)
        }
    }

    @Test func `additional parameters are sent, except for those that the client sets itself`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            _ = try await Self.signIn(at: server) {
                $0.options.additionalParameters = ["audience": "https://api.example.com", "ui_locales": "de"]
            }.run()
            let request = try #require(server.requests(to: .authorization).first?.query)
            #expect(request["audience"] == "https://api.example.com")
            #expect(request["ui_locales"] == "de")
            for name in ["state", "scope", "redirect_uri", "code_challenge", "client_secret", "request_uri", "", "a b"]
            {
                let error = await #expect(throws: SignInError.self) {
                    try await Self.signIn(at: server) { $0.options.additionalParameters = [name: "x"] }.run()
                }
                guard case .unusable = error else {
                    Issue.record("\(name): \(String(describing: error))")
                    continue
                }
            }
            #expect(server.requests(to: .authorization).count == 1)
        }
    }

    @Test func `a device sign-in sends additional parameters too`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try DeviceSignIn(issuer: server.issuer.rawValue, clientID: "lightbox")
            signIn.options.additionalParameters = ["audience": "https://api.example.com"]
            signIn.pause = { _ in }
            _ = try await signIn.run { _ in }
            #expect(server.requests(to: .deviceAuthorization).first?.form["audience"] == "https://api.example.com")
        }
    }

    // OpenID Connect Core §3.1.3.7 point 3
    @Test func `an ID token may name further audiences only if the app trusts them, also in a refresh`() async throws {
        var script = ServerScript()
        script.idToken.replaced = [WireMember("aud", ["{client}", "project-7"]), WireMember("azp", "{client}")]
        try await ScriptedAuthorizationServer.run(script) { server in
            await #expect(throws: SignInError.unsafe(.idToken(.wrongAudience))) {
                try await Self.signIn(at: server).run()
            }
            await #expect(throws: SignInError.unsafe(.idToken(.wrongAudience))) {
                try await Self.signIn(at: server) { $0.options.trustedAudiences = ["project-8"] }.run()
            }
            let signIn = try Self.signIn(at: server) { $0.options.trustedAudiences = ["project-7"] }
            let credentials = try await signIn.run()
            let store: any TokenStore = MemoryTokenStore()
            try await store.save(credentials, as: .standard)
            let fresh = try await TokenSession(for: signIn, store: store).refreshed(replacing: credentials.accessToken)
            #expect(fresh.idToken != credentials.idToken)
        }
    }

    // RFC 9207 §2.4: a parameter that is present must match, also if the metadata do not announce it.
    @Test(arguments: ["", "https://evil.example.com"])
    func `an iss that is empty or of another server is refused`(issuer: String) async throws {
        var script = ServerScript()
        script.metadata.omitted = ["authorization_response_iss_parameter_supported"]
        script.authorization.issuer = .replaced(issuer)
        try await ScriptedAuthorizationServer.run(script) { server in
            await #expect(throws: SignInError.unsafe(.callback(.wrongIssuer))) {
                try await Self.signIn(at: server).run()
            }
            #expect(server.requests(to: .token).isEmpty)
        }
    }

    // RFC 9449 §5, RFC 7009 §2
    @Test func `tokens that are not bound although the client asked for it are revoked`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.ignoresProofs)) { server in
            await #expect(throws: SignInError.unsafe(.tokenResponse(.notBound))) {
                try await Self.signIn(at: server) { $0.options.bindsTokens = true }.run()
            }
            let revoked = server.requests(to: .revocation).map { $0.form["token"] }
            #expect(revoked == [server.refreshTokens.last, server.accessTokens.last])
        }
    }

    // The server does not redirect, so the sign-in cannot notice it in the browser (RFC 6749 §4.1.2.1).
    @Test(arguments: [ScriptedProduct.hydra, .betterAuth, .springAuthorizationServer, .canaille])
    func `on request, an unregistered client is reported while the browser is open`(
        product: ScriptedProduct
    ) async throws {
        try await PlayedProduct.run(product, changing: { $0.clients.known = ["other-client"] }) { server in
            let (texts, told) = AsyncStream.makeStream(of: String.self)
            let signIn = try Self.signIn(at: server) {
                $0.par = .never
                $0.browser = NoBrowser()
                $0.checksClient = true
            }
            let attempt = Task {
                try await signIn.run { event in if case .rejected(let text) = event { told.yield(text) } }
            }
            var iterator = texts.makeAsyncIterator()
            let text = await iterator.next()
            #expect(text?.contains("is probably not registered") == true)
            attempt.cancel()
            await #expect(throws: SignInError.cancelled) { try await attempt.value }
        }
    }
}
