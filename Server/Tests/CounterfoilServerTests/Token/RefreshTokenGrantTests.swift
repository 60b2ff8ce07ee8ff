import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Refresh tokens: their scope, their client and their lifetimes.
struct RefreshTokenGrantTests {
    /// A sign-in of alice for a client that gets refresh tokens.
    struct Stayed {
        let test: TestServer
        let client: RegisteredClient
        let tokens: TokenResponse

        init(
            _ test: TestServer, type: ClientType = .native,
            scope: String = "openid offline_access photos.read photos.write",
            life: RefreshTokenLife = RefreshTokenLife(), refreshTokens: RefreshTokenPolicy = .offlineAccess
        ) async throws {
            self.test = test
            let address = type == .native ? "http://127.0.0.1:51004/callback" : "https://stay.example/cb"
            var policy = ClientPolicy.standard(for: type)
            policy.isVouchedFor = true
            policy.requiresState = false
            policy.refreshTokenLife = life
            policy.refreshTokens = refreshTokens
            let client = try await test.register(
                "Stay", type: type, redirectURIs: [address], scope: scope, policy: policy)
            let attempt = Attempt(test, by: client, at: address, for: scope).with("nonce", "n-1")
            let form = attempt.exchange(try await attempt.authorize().code)
            var fields = HTTPFields()
            if type.isConfidential {
                let secret = ClientSecret()
                _ = try await test.store.addClientSecret(
                    ClientSecretRecord(
                        digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: test.clock.now))
                fields[.authorization] = try Self.basic(client, secret)
                self.fields = fields
            } else {
                self.fields = HTTPFields()
            }
            self.client = client
            tokens = try await test.redeem(form, fields: fields).tokenResponse
        }

        /// The Authorization field of a confidential client.
        let fields: HTTPFields

        /// The request with the first refresh token, or another one.
        func form(_ token: RefreshToken? = nil) throws -> FormParameters {
            FormParameters([
                "grant_type": "refresh_token", "client_id": client.id.rawValue,
                "refresh_token": try #require(token ?? tokens.refreshToken).exposed,
            ])
        }

        func refresh(_ token: RefreshToken? = nil) async throws -> Reply {
            await test.redeem(try form(token), fields: fields)
        }

        private static func basic(_ client: RegisteredClient, _ secret: ClientSecret) throws -> String {
            "Basic " + Data((client.id.rawValue + ":" + secret.exposed).utf8).base64EncodedString()
        }
    }

    /// RFC 6585 §4.
    private static func expectToldToWait(_ reply: Reply) throws {
        #expect(reply.status == .tooManyRequests)
        #expect(reply.fields[.retryAfter] == "2")
        #expect(try reply.tokenError.error == "temporarily_unavailable")
    }

    private static func expectRefused(_ reply: Reply) throws {
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "invalid_grant")
    }

    // The new tokens have the granted scope, user and client,
    // and no other.
    @Test func `a refresh gives new tokens of the same scope and a new refresh token`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let first = try #require(stayed.tokens.refreshToken)
        // 256 bits that identify the family and 256 that authenticate it.
        #expect(Base64URL.decode(first.exposed)?.count == 68)
        let reply = try await stayed.refresh()
        #expect(reply.fields[.cacheControl] == "no-store")
        #expect(reply.cookies.isEmpty)
        let next = try reply.tokenResponse
        #expect(next.refreshToken != first)
        #expect(next.accessToken != stayed.tokens.accessToken)
        #expect(try next.scope == Scope(parsing: "openid offline_access photos.read photos.write"))
        let issued = try await IssuedTokens(stayed.test)
        #expect(try issued.verified(next.accessToken).scope == next.scope)
        #expect(try await stayed.refresh(next.refreshToken).tokenResponse.scope == next.scope)
    }

    @Test(arguments: [
        ("photos.read", RefreshTokenPolicy.offlineAccess, false), ("photos.read offline_access", .offlineAccess, true),
        ("photos.read", .always, true), ("photos.read offline_access", .never, false),
    ])
    func `refresh tokens are issued with offline_access, always or never, as the policy says`(
        scope: String, policy: RefreshTokenPolicy, expected: Bool
    ) async throws {
        let stayed = try await Stayed(try await TestServer(), scope: scope, refreshTokens: policy)
        #expect((stayed.tokens.refreshToken != nil) == expected)
    }

    // A narrower scope applies to this token only; the next one has the full scope again.
    @Test func `a refresh can narrow the scope and not extend it`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let less = await stayed.test.redeem(try stayed.form().adding("scope", "photos.read"))
        #expect(try less.tokenResponse.scope == Scope(parsing: "photos.read"))
        #expect(try less.tokenResponse.idToken == nil)
        let token = try less.tokenResponse.refreshToken
        let more = await stayed.test.redeem(try stayed.form(token).adding("scope", "photos.read photos.delete"))
        #expect(try more.tokenError.error == "invalid_scope")
        // A refused request consumes nothing.
        #expect(try await stayed.refresh(token).tokenResponse.scope == stayed.tokens.scope)
    }

    // OpenID Connect Core §12.2: the same user, the same sign-in, no nonce.
    @Test func `the ID token of a refresh describes the same sign-in`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let first = try IssuedTokens.parts(of: try #require(stayed.tokens.idToken).exposed).claims
        stayed.test.clock.advance(by: 1000)
        let again = try await stayed.refresh().tokenResponse
        let second = try IssuedTokens.parts(of: try #require(again.idToken).exposed).claims
        for name in ["iss", "sub", "aud", "auth_time", "sid", "acr"] {
            #expect(first[name] as? NSObject == second[name] as? NSObject, "\(name)")
        }
        #expect(first["nonce"] as? String == "n-1")
        #expect(second["nonce"] == nil)
        #expect(first["iat"] as? Int != second["iat"] as? Int)
    }

    // The attacker and the victim are both signed out, because they cannot be told apart.
    @Test func `reuse of a token whose successor was used revokes the family`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let second = try await stayed.refresh().tokenResponse
        let third = try await stayed.refresh(second.refreshToken).tokenResponse
        try Self.expectRefused(try await stayed.refresh())
        try Self.expectRefused(try await stayed.refresh(third.refreshToken))
        let statistics = try await stayed.test.store.refreshStatistics(of: stayed.client.id)
        #expect(statistics.reuses == 1 && statistics.revocations == 1)
        #expect(statistics.lastReuseAt == stayed.test.clock.now)
        let events = try await stayed.test.store.audit(AuditQuery(kind: .refreshReuse))
        #expect(events.map(\.event.clientID) == [stayed.client.id])
        #expect(events.first?.event.source != nil)
    }

    // A lost response is repeated up to fifty times, until the successor is used.
    @Test func `a lost response is repeated fifty times and audited each time`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let successor = try await stayed.refresh().tokenResponse.refreshToken
        for _ in 0..<50 { #expect(try await stayed.refresh().tokenResponse.refreshToken == successor) }
        try Self.expectToldToWait(try await stayed.refresh())
        #expect(try await stayed.test.store.audit(AuditQuery(kind: .refreshRepeat)).count == 50)
        #expect(try await stayed.test.store.refreshStatistics(of: stayed.client.id).repeats == 50)
        #expect(try await stayed.refresh(successor).status == .ok)
    }

    @Test func `a throttled client gets a response after its wait, and is never signed out`() async throws {
        let stayed = try await Stayed(try await TestServer(), type: .singlePage)
        let successor = try await stayed.refresh().tokenResponse.refreshToken
        stayed.test.clock.advance(by: 9.5)
        for _ in 0..<50 { #expect(try await stayed.refresh().tokenResponse.refreshToken == successor) }
        for _ in 0..<3 {
            try Self.expectToldToWait(try await stayed.refresh())
            // The grace period of 10 seconds ends meanwhile.
            stayed.test.clock.advance(by: 2)
            #expect(try await stayed.refresh().tokenResponse.refreshToken == successor)
        }
        stayed.test.clock.advance(by: 60)
        try Self.expectRefused(try await stayed.refresh())
        #expect(try await stayed.refresh(successor).status == .ok)
        #expect(try await stayed.test.store.refreshStatistics(of: stayed.client.id).reuses == 0)
    }

    @Test(arguments: [nil, "openid photos.write"])
    func `a refresh concurrent with a narrower consent gets only the remaining scope`(asked: String?) async throws {
        let store = TestStore()
        let stayed = try await Stayed(try await TestServer(store: store))
        let (alice, client, now) = (stayed.test.alice.id, stayed.client.id, stayed.test.clock.now)
        let kept = try Scope(parsing: "openid offline_access photos.read")
        store.before(.recordRefresh) {
            _ = try? await store.narrowConsent(of: alice, to: client, keeping: kept, at: now)
        }
        var form = try stayed.form()
        form.append("scope", ifPresent: asked)
        let reply = await stayed.test.redeem(form)
        if asked == nil {
            #expect(try reply.tokenResponse.scope == kept)
        } else {
            #expect(try reply.tokenError.error == "invalid_scope")
        }
    }

    // The default grace periods of the client types, and one set by an administrator.
    @Test(arguments: [
        (ClientType.native, nil, 60.0), (.singlePage, nil, 10), (.native, 5, 5), (.native, 0, 0),
    ])
    func `after the grace period a previous token is reuse`(
        type: ClientType, grace: Int?, seconds: Double
    ) async throws {
        for (late, status) in [(0.0, HTTPResponse.Status.ok), (1, .badRequest)] {
            let stayed = try await Stayed(
                try await TestServer(), type: type, life: RefreshTokenLife(gracePeriod: grace))
            let successor = try await stayed.refresh().tokenResponse.refreshToken
            stayed.test.clock.advance(by: seconds + late)
            #expect(try await stayed.refresh().status == status)
            #expect(try await stayed.refresh(successor).status == status)
        }
    }

    // A change of the wall clock is no elapsed time.
    @Test(arguments: [3600.0, -3600])
    func `a clock jump signs no user out`(jump: TimeInterval) async throws {
        let stayed = try await Stayed(try await TestServer())
        let successor = try await stayed.refresh().tokenResponse.refreshToken
        stayed.test.clock.jump(by: jump)
        #expect(try await stayed.refresh().tokenResponse.refreshToken == successor)
        #expect(try await stayed.refresh(successor).status == .ok)
    }

    // RFC 10017 §6.3.2.3: idle and absolute lifetime; use extends only the first.
    @Test func `a refresh token expires when idle too long, and finally at its absolute lifetime`() async throws {
        let life = RefreshTokenLife(idleLifetime: 1000, lifetime: 2500)
        let idle = try await Stayed(try await TestServer(), life: life)
        idle.test.clock.advance(by: 1000)
        try Self.expectRefused(try await idle.refresh())

        let busy = try await Stayed(try await TestServer(), life: life)
        var token = busy.tokens.refreshToken
        for _ in 0..<2 {
            busy.test.clock.advance(by: 999)
            token = try await busy.refresh(token).tokenResponse.refreshToken
        }
        busy.test.clock.advance(by: 502)
        try Self.expectRefused(try await busy.refresh(token))
    }

    // A token is bound to its client; an attempt by another client has no effect.
    @Test func `another client cannot use it`() async throws {
        let test = try await TestServer()
        let stayed = try await Stayed(test)
        try Self.expectRefused(
            await test.redeem(try stayed.form().setting("client_id", to: test.lightbox.id.rawValue)))
        #expect(try await stayed.refresh().status == .ok)
    }

    // A missing parameter is reported and consumes nothing.
    @Test(arguments: ["client_id", "refresh_token"])
    func `a request without a parameter is refused`(name: String) async throws {
        let stayed = try await Stayed(try await TestServer())
        let reply = await stayed.test.redeem(try stayed.form().setting(name, to: nil))
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "invalid_request")
        let twice = await stayed.test.redeem(try stayed.form().adding(name, "x"))
        #expect(try twice.tokenError.error == "invalid_request")
        #expect(try await stayed.refresh().status == .ok)
    }

    // A token that this server did not issue is refused before any read of the store.
    @Test func `a changed or truncated token, or one of another kind, is refused`() async throws {
        let store = TestStore()
        let stayed = try await Stayed(try await TestServer(store: store))
        let text = try #require(stayed.tokens.refreshToken).exposed
        let flipped = String(text.dropLast(2)) + (text.hasSuffix("AA") ? "BB" : "AA")
        let next = (text.hasPrefix("A") ? "B" : "A") + text.dropFirst()
        let reads = store.calls(of: .refreshFacts)
        for wrong in [
            flipped, next, String(text.dropLast()), text + "A", "x", String(repeating: "A", count: 91),
            stayed.tokens.accessToken.exposed, try #require(stayed.tokens.idToken).exposed, "' OR 1=1 --",
        ] {
            try Self.expectRefused(await stayed.test.redeem(try stayed.form().setting("refresh_token", to: wrong)))
        }
        #expect(store.calls(of: .refreshFacts) == reads)
        #expect(try await stayed.refresh().status == .ok)
    }

    // A client that authenticates keeps its token; the response contains no new one (RFC 6749 §6).
    @Test func `the refresh token of a confidential client stays the same`() async throws {
        let stayed = try await Stayed(try await TestServer(), type: .web)
        for _ in 0..<8 { #expect(try await stayed.refresh().tokenResponse.refreshToken == nil) }
        let alone = await stayed.test.redeem(try stayed.form())
        #expect(alone.status == .unauthorized)
        #expect(try alone.tokenError.error == "invalid_client")
    }

    // RFC 9700 §2.2.2
    @Test(arguments: [ClientType.native, .singlePage])
    func `no policy keeps the refresh token of a public client`(type: ClientType) async throws {
        let stayed = try await Stayed(try await TestServer(), type: type, life: RefreshTokenLife(rotates: false))
        let first = try #require(stayed.tokens.refreshToken)
        let next = try #require(try await stayed.refresh().tokenResponse.refreshToken)
        #expect(next != first)
    }

    // Revocation by the user takes effect immediately.
    @Test func `a disconnected app gets no refresh`() async throws {
        let stayed = try await Stayed(try await TestServer())
        _ = try await stayed.test.store.narrowConsent(
            of: stayed.test.alice.id, to: stayed.client.id, keeping: Scope([]), at: stayed.test.clock.now)
        try Self.expectRefused(try await stayed.refresh())
    }

    // RFC 10017 §6.3.2.3: the end of a session revokes the grants of browser clients.
    @Test(arguments: [(ClientType.singlePage, false), (.native, true)])
    func `the end of a session revokes the tokens of single-page apps, and not of devices`(
        type: ClientType, staysSignedIn: Bool
    ) async throws {
        let stayed = try await Stayed(try await TestServer(), type: type)
        for session in try await stayed.test.store.sessions(of: stayed.test.alice.id) {
            try await stayed.test.store.endSession(session.digest, at: stayed.test.clock.now)
        }
        #expect(try await stayed.refresh().status == (staysSignedIn ? .ok : .badRequest))
    }

    // A disabled account.
    @Test func `a disabled user gets no refresh`() async throws {
        let store = TestStore()
        let stayed = try await Stayed(try await TestServer(store: store))
        try await store.disableUser(stayed.test.alice.id, at: stayed.test.clock.now, recording: [])
        try Self.expectRefused(try await stayed.refresh())
    }

    // A full disk loses nothing.
    @Test(arguments: [StoreOperation.refreshFacts, .recordRefresh])
    func `a refresh that cannot be committed consumes nothing`(operation: StoreOperation) async throws {
        let store = TestStore()
        let stayed = try await Stayed(try await TestServer(store: store))
        store.fail(operation)
        #expect(try await stayed.refresh().status == .serviceUnavailable)
        store.recover()
        #expect(try await stayed.refresh().status == .ok)
    }

    // During the outage no client could retry; once the successor was used, it is too late as always.
    @Test(arguments: [0.0, 3600, 86_400])
    func `a response that was lost with the server is repeated when it is back`(away: TimeInterval) async throws {
        let store = TestStore()
        let stayed = try await Stayed(try await TestServer(store: store))
        try await stayed.test.server.heartbeat.beat()
        let lost = try #require(try await stayed.refresh().tokenResponse.refreshToken)
        stayed.test.clock.advance(by: away)
        let back = try await TestServer(store: store, clock: stayed.test.clock)
        #expect(try await back.redeem(try stayed.form()).tokenResponse.refreshToken == lost)
        #expect(await back.redeem(try stayed.form(lost)).status == .ok)
        try Self.expectRefused(await back.redeem(try stayed.form()))
    }

    // A restarted server accepts its tokens; a server with another key accepts none.
    @Test func `refresh tokens survive a restart`() async throws {
        let store = TestStore()
        let stayed = try await Stayed(try await TestServer(store: store))
        let again = try await TestServer(store: store)
        #expect(await again.redeem(try stayed.form()).status == .ok)
    }

    // RFC 8707 §2.2: resources of a refresh.
    @Test func `a refresh for a resource outside the grant is refused`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let reply = await stayed.test.redeem(try stayed.form().adding("resource", "https://api.example.com"))
        #expect(try reply.tokenError.error == "invalid_target")
        #expect(try await stayed.refresh().status == .ok)
    }
}
