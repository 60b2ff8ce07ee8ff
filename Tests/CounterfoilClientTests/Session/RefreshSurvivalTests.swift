import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of refreshes that meet a wrong clock, a server that has forgotten something, or another process.
@Suite(.timeLimit(.minutes(2)))
struct RefreshSurvivalTests {
    /// Signs in with `openid`, changes the server, and refreshes.
    private static func run(
        _ change: @escaping @Sendable (inout ServerScript) -> Void,
        _ body:
            @escaping @Sendable (
                ScriptedAuthorizationServer, any TokenStore, TokenSession, Credentials
            ) async throws -> Void
    ) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid photos.read", in: store)
            server.change(change)
            try await body(server, store, TokenSession(ofAnyClientIn: store), first)
        }
    }

    @Test(
        arguments: [
            { $0.clockOffset = -7200 }, { $0.clockOffset = 7200 }, { $0.idToken.signature = .unknownKey },
            { $0.idToken.signature = .broken }, { $0.idToken.timeOffset = -90_000 },
            { $0.idToken.signature = .none }, { $0.idToken.signature = .hs256 },
            { $0.idToken.replaced = [WireMember("aud", ["lightbox", "another-api"])] },
            { $0.idToken.replaced = [WireMember("iss", 7)] }, { $0.idToken.omitted = ["iss", "aud", "sub"] },
            { $0.idToken.replaced = [WireMember("nonce", "nonce-of-another-sign-in")] },
            { $0.interruptions = [Interruption(at: .keys, .trouble(503))] },
            { $0.interruptions = [Interruption(at: .keys, .html())] },
        ] as [@Sendable (inout ServerScript) -> Void])
    func `an ID token that cannot be verified does not end the session`(
        change: @escaping @Sendable (inout ServerScript) -> Void
    ) async throws {
        try await Self.run(change) { server, store, session, first in
            var events = session.events.makeAsyncIterator()
            let fresh = try await session.refreshed(replacing: first.accessToken)
            #expect(fresh.accessToken.exposed == server.accessTokens.last)
            #expect(fresh.refreshToken?.exposed == server.refreshTokens.last)
            #expect(fresh.idToken == first.idToken)
            #expect(fresh.user == first.user)
            #expect(try await store.credentials(of: .standard) == fresh)
            #expect(SignedIn.refreshes(at: server).count == 1)
            guard case .refreshed? = await events.next(), case .idTokenDiscarded? = await events.next() else {
                Issue.record("the events are missing")
                return
            }
        }
    }

    // OpenID Connect Core §12.2
    @Test(arguments: [IDTokenScript.Signature.genuine, .unknownKey])
    func `tokens of another user end the session and are revoked`(signature: IDTokenScript.Signature) async throws {
        try await Self.run {
            $0.idToken.subjectAfterRefresh = "mallory"
            $0.idToken.signature = signature
        } _: { server, store, session, first in
            let error = await #expect(throws: SessionError.self) {
                try await session.refreshed(replacing: first.accessToken)
            }
            guard case .ended(.unsafe(.idToken(.wrongSubject)), _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let kept = try await store.record(of: .standard)
            #expect(kept == nil)
            let revoked = server.requests(to: .revocation).compactMap { $0.form["token"] }
            let issued = try #require(server.refreshTokens.last)
            #expect(revoked.contains(issued))
        }
    }

    /// The claims by which an ID token of a refresh is certainly not about the sign-in, with the reason.
    private static let contradictions: [(WireMember, TokenRefusal, words: String)] = [
        (WireMember("iss", "https://login.example.com"), .wrongIssuer, "by another issuer (iss)"),
        (WireMember("iss", "{issuer}/"), .wrongIssuer, "by another issuer (iss)"),
        (WireMember("aud", "another-client"), .wrongAudience, "for another audience (aud)"),
        (WireMember("aud", ["another-client", "another-api"]), .wrongAudience, "for another audience (aud)"),
        (WireMember("azp", "another-client"), .wrongAuthorizedParty, "to another client (azp)"),
    ]

    // OpenID Connect Core §12.2, RFC 6749 §6
    @Test(
        arguments: contradictions,
        [IDTokenScript.Signature.genuine, .unknownKey, .broken, .none])
    func `an access token with an ID token of another issuer or client is not used, and the session continues`(
        contradiction: (WireMember, TokenRefusal, words: String), signature: IDTokenScript.Signature
    ) async throws {
        try await Self.run {
            $0.idToken.replaced = [contradiction.0]
            $0.idToken.signature = signature
        } _: { server, store, session, first in
            let refused = SessionError.unavailable(.unsafe(.idToken(contradiction.1)))
            await #expect(throws: refused) { try await session.refreshed(replacing: first.accessToken) }
            #expect("\(refused)".contains(contradiction.words), "\(refused)")
            let withheld = try #require(server.accessTokens.last)
            let kept = try #require(try await store.credentials(of: .standard))
            #expect(kept.refreshToken?.exposed == server.refreshTokens.last)
            #expect(kept.accessToken == first.accessToken && kept.expires == first.expires)
            #expect(kept.user == first.user && kept.idToken == first.idToken)
            #expect(server.requests(to: .revocation).isEmpty)
            // The former token stays usable, and another process does not get the refused one either.
            let next = TokenSession(ofAnyClientIn: store)
            #expect(try await next.credentials().accessToken == first.accessToken)
            server.change { $0.idToken = IDTokenScript() }
            let fresh = try await next.refreshed(replacing: first.accessToken)
            #expect(fresh.accessToken.exposed == server.accessTokens.last && fresh.accessToken.exposed != withheld)
            #expect(SignedIn.refreshes(at: server).count == 2)
        }
    }

    // RFC 7591: servers delete registrations that were not used for a while.
    @Test(arguments: ["invalid_client", "unauthorized_client"])
    func `a self-registered client that the server has forgotten signs in again`(code: String) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            var client = ClientIdentification()
            client.registration = .init(as: "Lightbox", storedIn: store)
            var signIn = NativeSignIn(issuer: server.issuer, client: client)
            signIn.browser = ScriptedBrowser()
            let session = TokenSession(for: signIn, store: store)
            let first = try await session.signedIn()
            #expect(store.registration(at: server.issuer)?.clientID == first.clientID)
            server.change {
                $0.interruptions = [
                    Interruption(at: .token, grantType: "refresh_token", .refusal(code, status: 401))
                ]
            }
            let error = await #expect(throws: SessionError.self) {
                try await session.refreshed(replacing: first.accessToken)
            }
            guard case .ended(.refused, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(store.registration(at: server.issuer) == nil)
            let second = try await session.signedIn()
            #expect(second.clientID != first.clientID)
        }
    }

    @Test func `a refresh needs no metadata and works while they are unavailable`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let session = TokenSession(ofAnyClientIn: store, now: SignedIn.later)
            server.forgetRequests()
            server.change { $0.interruptions = [Interruption(at: .metadata, .trouble(503))] }
            let fresh = try await session.credentials()
            #expect(server.requests.map(\.endpoint) == [.token])
            // After a day, the metadata are fetched again. If that fails, the stored endpoints are used.
            let old = TokenSession(ofAnyClientIn: store, now: { Date().addingTimeInterval(100_000) })
            server.forgetRequests()
            let next = try await old.refreshed(replacing: fresh.accessToken)
            #expect(server.requests.first?.endpoint == .metadata)
            #expect(server.requests.last?.endpoint == .token)
            server.change { $0.interruptions = [] }
            server.forgetRequests()
            let last = try await old.refreshed(replacing: next.accessToken)
            #expect(server.requests.map(\.endpoint) == [.metadata, .token])
            server.forgetRequests()
            _ = try await old.refreshed(replacing: last.accessToken)
            #expect(server.requests.map(\.endpoint) == [.token])
        }
    }

    @Test func `a token endpoint that has moved is found by the metadata`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            server.change { $0.paths[.token] = "/new/token" }
            let session = TokenSession(ofAnyClientIn: store)
            let fresh = try await session.refreshed(replacing: first.accessToken)
            #expect(fresh.accessToken.exposed == server.accessTokens.last)
            server.forgetRequests()
            _ = try await session.refreshed(replacing: fresh.accessToken)
            #expect(server.requests.map(\.endpoint) == [.token])
        }
    }

    /// Runs a test with two processes of one app, each with a store object and a session of its own.
    private static func twice(
        _ body:
            @escaping @Sendable (
                ScriptedAuthorizationServer, TokenSession, TokenSession, any TokenStore
            ) async throws -> Void
    ) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let directory = try TemporaryDirectory()
            func store() -> EncryptedFileTokenStore {
                EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile)
            }
            try await SignedIn.at(server, scope: "openid photos.read", in: store())
            try await body(
                server, TokenSession(ofAnyClientIn: store()), TokenSession(ofAnyClientIn: store()), store())
        }
    }

    @Test func `a session notices that another process signed the user out`() async throws {
        try await Self.twice { server, daemon, terminal, _ in
            var events = daemon.events.makeAsyncIterator()
            _ = try await daemon.credentials()
            try await terminal.signOut()
            await #expect(throws: SessionError.notSignedIn(.standard)) { try await daemon.credentials() }
            #expect(await events.next() == .signedOut)
            await #expect(throws: SessionError.notSignedIn(.standard)) { try await daemon.get(server.url(of: .api)) }
            #expect(server.requests(to: .api).isEmpty)
        }
    }

    @Test func `a session notices that another process signed another user in`() async throws {
        try await Self.twice { server, daemon, _, store in
            var events = daemon.events.makeAsyncIterator()
            let alice = try await daemon.credentials()
            server.change { $0.authorization.subject = "mallory" }
            let mallory = try await SignedIn.at(server, scope: "openid photos.read", in: store)
            #expect(try await daemon.credentials() == mallory)
            #expect(await events.next() == .signedInElsewhere)
            #expect(alice.user != mallory.user)
        }
    }

    @Test func `an undisturbed session reads the store once`() async throws {
        try await Self.twice { _, daemon, _, store in
            let first = try await daemon.credentials()
            let stamp = await store.changeStamp()
            #expect(stamp != nil)
            #expect(try await daemon.credentials() == first)
            #expect(await store.changeStamp() == stamp)
            try await store.save(first, as: .standard)
            #expect(await store.changeStamp() != stamp)
        }
    }

    @Test(arguments: ["openid photos.read", "photos.read"])
    func `a rejected call is not repeated with the token of another user`(scope: String) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, scope: scope, in: store)
            let transport = TurnstileTransport(holding: server.url(of: .api))
            let session = TokenSession(ofAnyClientIn: store, transport: transport)
            server.expireAccessTokens()
            let waiting = Task { try await session.get(server.url(of: .api)) }
            await transport.arrivals(1)
            server.change { $0.authorization.subject = "mallory" }
            let mallory = try await SignedIn.at(server, scope: scope, in: store)
            transport.open()
            #expect(try await waiting.value.statusCode == 401)
            #expect(
                !server.requests(to: .api).contains { $0.authorization?.contains(mallory.accessToken.exposed) ?? false }
            )
        }
    }

    @Test func `a step-up is not continued with the token of another user`() async throws {
        var script = ServerScript(.noPushedRequests)
        script.api.requiredScope = "photos.write"
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, scope: "openid photos.read", in: store)
            let session = TokenSession(ofAnyClientIn: store)
            let mallory = Mutex<Credentials?>(nil)
            await #expect(throws: SessionError.self) {
                try await session.send(
                    TransportRequest(api: server.url(of: .api)),
                    steppingUp: { prepared in
                        var signIn = prepared
                        signIn.browser = ScriptedBrowser()
                        let fresh = try await signIn.run()
                        server.change { $0.authorization.subject = "mallory" }
                        let other = try await SignedIn.at(
                            server, scope: "openid photos.read photos.write", in: store)
                        mallory.withLock { $0 = other }
                        return fresh
                    })
            }
            let token = try #require(mallory.withLock { $0 }).accessToken.exposed
            #expect(!server.requests(to: .api).contains { $0.authorization?.contains(token) ?? false })
        }
    }

    @Test func `a sign-out elsewhere and a cancellation during a retried call are reported`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let transport = TurnstileTransport(holding: server.url(of: .api))
            let session = TokenSession(ofAnyClientIn: store, transport: transport)
            server.expireAccessTokens()
            let waiting = Task { try await session.get(server.url(of: .api)) }
            await transport.arrivals(1)
            try await store.remove(.standard)
            transport.open()
            await #expect(throws: SessionError.notSignedIn(.standard)) { try await waiting.value }
        }
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let transport = TurnstileTransport(holding: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: transport)
            server.expireAccessTokens()
            let waiting = Task { try await session.get(server.url(of: .api)) }
            await transport.arrivals(1)
            waiting.cancel()
            await #expect(throws: SessionError.cancelled) { try await waiting.value }
            transport.open()
        }
    }

    @Test func `a rejected call throws if the token cannot be refreshed now`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            server.expireAccessTokens()
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(429, retryAfter: "120"))] }
            let session = TokenSession(ofAnyClientIn: store)
            let first = await #expect(throws: SessionError.self) { try await session.get(server.url(of: .api)) }
            guard case .unavailable = first else {
                Issue.record("\(String(describing: first))")
                return
            }
            let second = await #expect(throws: SessionError.self) { try await session.get(server.url(of: .api)) }
            guard case .paused = second else {
                Issue.record("\(String(describing: second))")
                return
            }
        }
    }
}
