import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes
import TestSupport
import Testing

/// Tests of an API that requires more than a token grants.
@Suite(.timeLimit(.minutes(2)))
struct StepUpTests {
    /// Runs the prepared sign-in in place of the user.
    private static let signInAgain: @Sendable (NativeSignIn) async throws -> Credentials = { prepared in
        var signIn = prepared
        signIn.browser = ScriptedBrowser()
        signIn.timeout = .seconds(60)
        return try await signIn.run()
    }

    private static func answer(_ status: Int, _ challenges: String...) -> TransportResponse {
        var fields = HTTPFields()
        for challenge in challenges { fields.append(HTTPField(name: .wwwAuthenticate, value: challenge)) }
        return TransportResponse(head: HTTPResponse(status: .init(code: status), headerFields: fields), body: [])
    }

    /// Runs a test with a session that has read permission, at a server whose API requires write permission.
    private static func withReader(
        _ body: @escaping @Sendable (ScriptedAuthorizationServer, any TokenStore, TokenSession) async throws -> Void
    ) async throws {
        var script = ServerScript(.noPushedRequests)
        script.api.requiredScope = "photos.write"
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, scope: "openid photos.read", in: store)
            try await body(server, store, TokenSession(ofAnyClientIn: store))
        }
    }

    // RFC 6750 §3.1: the union of both scopes, so that no granted permission is lost.
    @Test func `a step-up requests the scope of the API in addition to the granted one`() async throws {
        try await Self.withReader { server, store, session in
            let answer = try await session.send(
                TransportRequest(api: server.url(of: .api)), steppingUp: Self.signInAgain)
            #expect(answer.statusCode == 200)
            #expect(
                server.requests(to: .authorization).last?.query["scope"] == "openid photos.read photos.write")
            #expect(try await store.credentials(of: .standard)?.scope.description == "openid photos.read photos.write")
            // The session uses the new credentials.
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
            #expect(server.requests(to: .authorization).count == 2)
        }
    }

    // The session of an app that registers itself accepts only credentials of its own registration.
    @Test func `the sign-in of a client that registered itself continues after a step-up`() async throws {
        var script = ServerScript()
        script.api.requiredScope = "photos.write"
        try await ScriptedAuthorizationServer.run(script) { server in
            let store = MemoryTokenStore()
            var client = ClientIdentification()
            client.registration = .init(as: "Lightbox", storedIn: store)
            var signIn = NativeSignIn(
                issuer: server.issuer, client: client, scope: try Scope(lenient: "openid photos.read"))
            signIn.options.resources = [try Resource(server.url(of: .api))]
            signIn.browser = ScriptedBrowser()
            let session = TokenSession(for: signIn, store: store)
            let first = try await session.signedIn()
            let answer = try await session.send(
                TransportRequest(api: server.url(of: .api)), steppingUp: Self.signInAgain)
            #expect(answer.statusCode == 200)
            let later = try await TokenSession(for: signIn, store: store).credentials()
            #expect(later.clientID == first.clientID)
            #expect(later.scope.description == "openid photos.read photos.write")
            #expect(server.requests(to: .registration).count == 1)
        }
    }

    // A step-up must not undo a sign-out by the user.
    @Test func `a user who signs out during a step-up stays signed out`() async throws {
        try await Self.withReader { server, store, session in
            await #expect(throws: SessionError.notSignedIn(.standard)) {
                try await session.send(
                    TransportRequest(api: server.url(of: .api)),
                    steppingUp: { prepared in
                        let fresh = try await Self.signInAgain(prepared)
                        _ = try await session.signOut()
                        return fresh
                    })
            }
            let kept = try await store.record(of: .standard)
            #expect(kept == nil)
            // The tokens of both sign-ins were revoked.
            let told = server.requests(to: .revocation).compactMap { $0.form["token"] }
            #expect(Set(server.refreshTokens).isSubset(of: told))
        }
    }

    // RFC 9470 §4 and §5
    @Test func `a step-up requests the acr_values and max_age of the API`() async throws {
        var script = ServerScript(.noPushedRequests)
        script.api.requiredContexts = ["phr", "mfa"]
        script.api.maxAge = 300
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, scope: "openid", in: store)
            let answer = try await TokenSession(ofAnyClientIn: store).send(
                TransportRequest(api: server.url(of: .api))
            ) { signIn in
                // The app can tell the user why the browser opens.
                #expect(
                    signIn.demand?.description
                        == "a stronger sign-in: phr (phishing-resistant) or mfa, and a sign-in of the last 5 minutes")
                return try await Self.signInAgain(signIn)
            }
            #expect(answer.statusCode == 200)
            #expect(try await store.credentials(of: .standard)?.user?.authenticationContext == "phr")
            let asked = try #require(server.requests(to: .authorization).last?.query)
            #expect(asked["acr_values"] == "phr mfa")
            #expect(asked["max_age"] == "300")
            #expect(asked["scope"] == "openid")
        }
    }

    // The server never grants what its API requires.
    @Test func `a step-up is not repeated for the same demand and runs at most twice`() async throws {
        for grows in [false, true] {
            var script = ServerScript()
            script.authorization.grantedScope = "photos.read"
            script.api.requiredScope = "photos.write"
            try await ScriptedAuthorizationServer.run(script) { server in
                let store: any TokenStore = MemoryTokenStore()
                try await SignedIn.at(server, in: store)
                let count = Mutex(0)
                let answer = try await TokenSession(ofAnyClientIn: store).send(
                    TransportRequest(api: server.url(of: .api))
                ) {
                    signIn in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    if grows { server.change { $0.api.requiredScope = "photos.write photos.\(number)" } }
                    return try await Self.signInAgain(signIn)
                }
                #expect(answer.statusCode == 403)
                #expect(count.withLock { $0 } == (grows ? 2 : 1))
            }
        }
    }

    @Test func `a step-up by another user does not change the session`() async throws {
        var script = ServerScript()
        script.api.requiredScope = "photos.write"
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            let alice = try await SignedIn.at(server, scope: "openid", in: store)
            server.change { $0.authorization.subject = "mallory" }
            await #expect(throws: SignInError.self) {
                try await TokenSession(ofAnyClientIn: store).send(
                    TransportRequest(api: server.url(of: .api)), steppingUp: Self.signInAgain)
            }
            #expect(try await store.credentials(of: .standard) == alice)
        }
    }

    // OpenID Connect Core §3.1.3.7 point 13
    @Test func `a sign-in that is older than max_age is rejected`() async throws {
        var script = ServerScript()
        script.idToken.replaced = [WireMember("auth_time", 1_000_000_000)]
        try await ScriptedAuthorizationServer.run(script) { server in
            var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid")
            signIn.options.maxAge = 300
            signIn.browser = ScriptedBrowser()
            await #expect(throws: SignInError.unsafe(.idToken(.authenticationTooOld))) { try await signIn.run() }
        }
    }

    // RFC 9110 §11.6.1, RFC 9470 §3
    @Test func `a demand is found among other challenges`() throws {
        let many = try #require(
            StepUp(
                demandedBy: Self.answer(
                    401, "Basic realm=\"x\"",
                    "Newauth a=\"1\", DPoP algs=\"ES256\", error=\"insufficient_user_authentication\", max_age=\"0\"")))
        #expect(many.maxAge == 0)
        #expect(many.scope.isEmpty && many.authenticationContexts.isEmpty)
        for answer in [
            Self.answer(401, "Bearer error=\"invalid_token\""), Self.answer(200, "Bearer error=\"insufficient_scope\""),
            Self.answer(403, "Basic error=\"insufficient_scope\""), Self.answer(403, "Bearer"), Self.answer(403),
            Self.answer(401, "Bearer realm=\"insufficient_scope\""),
        ] {
            #expect(StepUp(demandedBy: answer) == nil)
        }
        let odd = try #require(
            StepUp(
                demandedBy: Self.answer(
                    401, "Bearer error=\"insufficient_user_authentication\", max_age=\"-1\", scope=\"a\\\\b\"")))
        #expect(odd.maxAge == nil)
        #expect(odd.scope.isEmpty)
    }

    // RFC 9470 §3
    @Test(arguments: [
        ("max_age=\"600\"", "a sign-in of the last 10 minutes"), ("max_age=\"0\"", "a new sign-in"),
        ("acr_values=\"urn:counterfoil:acr:passkey\"", "a stronger sign-in: urn:counterfoil:acr:passkey (a passkey)"),
        ("acr_values=\"goldenkey\"", "a stronger sign-in: goldenkey"),
        ("acr_values=\"a b c d e\"", "a stronger sign-in: a or b or c or d or another one"),
        (
            "scope=\"photos.write\", max_age=\"60\"",
            "more permissions: photos.write, and a sign-in of the last 1 minute"
        ),
        ("realm=\"x\"", "more permissions, or a stronger or newer sign-in"),
    ])
    func `a demand says in words what the user is asked for`(parameters: String, words: String) throws {
        let demand = try #require(
            StepUp(demandedBy: Self.answer(401, "Bearer error=\"insufficient_user_authentication\", \(parameters)")))
        #expect(demand.description == words)
    }

    @Test func `an authentication context cannot control a terminal, and a long one is cut`() {
        #expect("\(SpokenContext("gold\u{1B}[31m\u{9B}1m\u{202E}"))" == "gold[31m1m")
        #expect("\(SpokenContext(String(repeating: "a", count: 101)))" == String(repeating: "a", count: 100))
    }
}
