import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of access tokens for a part of a sign-in: one API, or a smaller scope.
@Suite(.timeLimit(.minutes(2)))
struct AccessTargetTests {
    private static let photos = "https://photos.example.com"
    private static let mail = "https://mail.example.com"

    private static func photosOnly() throws -> AccessTarget { try AccessTarget(resource: photos) }
    private static func mailOnly() throws -> AccessTarget { try AccessTarget(resource: mail) }

    private static func options(bound: Bool = false) throws -> NativeSignIn.Options {
        var options = NativeSignIn.Options()
        options.resources = [try Resource(photos), try Resource(mail)]
        options.bindsTokens = bound
        return options
    }

    private typealias Body =
        @Sendable (ScriptedAuthorizationServer, any TokenStore, TokenSession, Credentials) async throws -> Void

    /// Runs a test with a user who has signed in for two APIs at a server with single-use refresh tokens and JWTs.
    private static func withTwoAPIs(
        bound: Bool = false, now: @escaping @Sendable () -> Date = { Date() },
        changing change: (inout ServerScript) -> Void = { _ in }, _ body: @escaping Body
    ) async throws {
        var script = ServerScript(.rotatesStrictly)
        script.tokens.format = .jwt
        change(&script)
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(
                server, scope: "openid photos.read mail.send", in: store, options: try options(bound: bound))
            try await body(server, store, TokenSession(ofAnyClientIn: store, transport: .standard, now: now), first)
        }
    }

    /// The audience of an access token that is a JWT.
    private static func audience(of credentials: Credentials) throws -> [String] {
        struct Claims: Decodable { let aud: [String] }
        struct OneAudience: Decodable { let aud: String }
        let parts = credentials.accessToken.exposed.split(separator: ".")
        let payload = Data(try #require(parts.count == 3 ? Base64URL.decode(String(parts[1])) : nil))
        if let one = try? JSONDecoder().decode(OneAudience.self, from: payload) { return [one.aud] }
        return try JSONDecoder().decode(Claims.self, from: payload).aud
    }

    // RFC 8707 §2.2, RFC 6749 §6
    @Test func `a token for one API is requested with its resource, and used until it expires`() async throws {
        try await Self.withTwoAPIs { server, store, session, first in
            let photos = try await session.credentials(for: Self.photosOnly())
            #expect(SignedIn.refreshes(at: server).map { $0.form.all("resource") } == [[Self.photos]])
            #expect(SignedIn.refreshes(at: server).first?.form["scope"] == nil)
            #expect(try Self.audience(of: photos) == [Self.photos])
            #expect(photos.target == AccessTarget(resources: [try Resource(Self.photos)]))
            #expect(photos.resources.map(\.rawValue) == [Self.photos])
            #expect(photos.refreshToken == nil && photos.idToken == nil)
            #expect(photos.user == first.user)

            // The same API in another spelling, in another session of the same store.
            let again = try await TokenSession(ofAnyClientIn: store).credentials(
                for: AccessTarget(resource: "HTTPS://photos.example.com:443/"))
            #expect(again.accessToken == photos.accessToken)
            #expect(SignedIn.refreshes(at: server).count == 1)

            let mail = try await session.credentials(for: Self.mailOnly())
            #expect(try Self.audience(of: mail) == [Self.mail])
            #expect(try await session.credentials(for: Self.photosOnly()).accessToken == photos.accessToken)
            #expect(SignedIn.refreshes(at: server).count == 2)

            // The access token of the whole sign-in stays, and so does the sign-in.
            let whole = try await session.credentials()
            #expect(whole.accessToken == first.accessToken && whole.target == nil)
            let stored = try #require(try await store.record(of: .standard))
            #expect(stored.credentials.refreshToken?.exposed == server.refreshTokens.last)
            #expect(stored.refreshIntent == nil)
            #expect(try Self.audience(of: try await session.refreshed(replacing: whole.accessToken)).count == 2)
        }
    }

    // RFC 6749 §3.3 and §6
    @Test func `a token with a smaller scope is requested and cached by its scope`() async throws {
        try await Self.withTwoAPIs { server, _, session, _ in
            let part = AccessTarget(scope: try Scope(parsing: "photos.read"))
            let narrow = try await session.credentials(for: part)
            #expect(narrow.scope.description == "photos.read")
            let request = try #require(SignedIn.refreshes(at: server).first)
            #expect(request.form["scope"] == "photos.read")
            #expect(request.form.all("resource") == [Self.photos, Self.mail])
            let both = try AccessTarget(resource: Self.photos, scope: "photos.read")
            #expect(try Self.audience(of: try await session.credentials(for: both)) == [Self.photos])
            #expect(SignedIn.refreshes(at: server).last?.form["scope"] == "photos.read")
            #expect(try await session.credentials(for: part).accessToken == narrow.accessToken)
            #expect(SignedIn.refreshes(at: server).count == 2)
        }
    }

    @Test func `a target that is the whole sign-in needs no other token`() async throws {
        try await Self.withTwoAPIs { server, _, session, first in
            let whole = [
                AccessTarget(), AccessTarget(resources: [try Resource(Self.mail), try Resource(Self.photos)]),
                AccessTarget(scope: first.scope),
            ]
            for target in whole {
                #expect(try await session.credentials(for: target).accessToken == first.accessToken)
            }
            #expect(SignedIn.refreshes(at: server).isEmpty)
        }
    }

    // RFC 8707 §2.2, RFC 6749 §6
    @Test func `a target that the sign-in does not contain is refused before a request`() async throws {
        try await Self.withTwoAPIs { server, _, session, first in
            let other = try Resource("https://other.example.com")
            await #expect(throws: SessionError.targetRefused(.resource(other, granted: first.resources))) {
                try await session.credentials(for: AccessTarget(resources: [other]))
            }
            let wide = try Scope(parsing: "photos.read admin")
            await #expect(throws: SessionError.targetRefused(.scope(wide, granted: first.scope))) {
                try await session.credentials(for: AccessTarget(scope: wide))
            }
            #expect(throws: SignInError.self) { try AccessTarget(resource: "photos") }
            #expect(SignedIn.refreshes(at: server).isEmpty)
        }
    }

    // RFC 6749 §5.2, RFC 8707 §2
    @Test(arguments: ["invalid_scope", "invalid_target"])
    func `a server that refuses a target does not end the session`(code: String) async throws {
        let change = { (script: inout ServerScript) in
            script.errors.codes["invalid_scope"] = code
            script.refreshTokens.refusesScope = true
        }
        try await Self.withTwoAPIs(changing: change) { _, store, session, first in
            let refusal = await #expect(throws: SessionError.self) {
                try await session.credentials(for: AccessTarget(scope: Scope([.openID])))
            }
            guard case .targetRefused(.server(let error))? = refusal, error.code.rawValue == code else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            #expect("\(SessionError.targetRefused(.server(error)))".hasSuffix("You are still signed in"))
            let stored = try #require(try await store.record(of: .standard))
            // The next use of the refresh token is no repetition of this one.
            #expect(stored.refreshIntent == nil)
            #expect(stored.credentials.refreshToken == first.refreshToken)
            #expect(try await session.credentials() == stored.credentials)
            #expect(try await session.refreshed(replacing: first.accessToken).accessToken != first.accessToken)
        }
    }

    // RFC 6749 §5.1, RFC 9068 §2.2
    @Test(arguments: [true, false])
    func `a token that is certainly for more than its target is not used`(showsScope: Bool) async throws {
        let change = { (script: inout ServerScript) in
            script.refreshTokens.ignoresTarget = true
            script.tokens.format = showsScope ? .opaque : .jwt
        }
        try await Self.withTwoAPIs(changing: change) { server, store, session, first in
            let target = showsScope ? AccessTarget(scope: Scope([.openID])) : try Self.photosOnly()
            let excess =
                showsScope ? AccessTarget.Excess.scope(first.scope) : .audience(try Resource(Self.mail))
            await #expect(throws: SessionError.unavailable(.unsafe(.accessToken(excess)))) {
                try await session.credentials(for: target)
            }
            // RFC 6749 §6: the new refresh token replaces the former one nevertheless.
            let stored = try #require(try await store.credentials(of: .standard))
            #expect(stored.refreshToken?.exposed == server.refreshTokens.last)
            #expect(stored.accessToken == first.accessToken && stored.narrowed.isEmpty)
            #expect(stored.isRefused(target))
            let next = try await session.refreshed(replacing: first.accessToken)
            #expect(next.target == nil && !next.isRefused(target))
        }
    }

    @Test func `a token for one API is sent to no other API of the sign-in`() async throws {
        try await Self.withTwoAPIs { _, _, session, _ in
            let photos = try await session.credentials(for: Self.photosOnly())
            #expect(photos.allowedOrigins == [try APIOrigin(Self.photos)])
            let there = try APIOrigin(Self.mail)
            let refusal = ResourceClient.Refusal.otherOrigin(there, allowed: photos.allowedOrigins)
            await #expect(throws: SessionError.refused(refusal)) {
                try await session.get("\(Self.mail)/inbox", for: Self.photosOnly())
            }
            await #expect(throws: SessionError.refused(refusal)) {
                try await session.authorization(for: "\(Self.mail)/inbox", target: Self.photosOnly())
            }
            // Origins that the caller names count for the whole sign-in.
            await #expect(throws: ResourceClient.Failure.self) {
                try await ResourceClient(photos, origins: [there]).get("\(Self.mail)/inbox")
            }
        }
    }

    // RFC 6750 §3.1, RFC 9449 §5
    @Test(arguments: [false, true])
    func `a rejected token for an API is replaced, and the call repeated`(bound: Bool) async throws {
        var script = ServerScript(bound ? .requiresDPoP : .rotatesStrictly)
        script.refreshTokens.rotation = .rotated(.revokesAll)
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            var options = try Self.options(bound: bound)
            let api = server.url(of: .api)
            options.resources = [try Resource(api), try Resource(Self.mail)]
            let first = try await SignedIn.at(server, in: store, options: options)
            let session = TokenSession(ofAnyClientIn: store)
            let target = try AccessTarget(resource: api)
            #expect(try await session.get(api, for: target).statusCode == 200)
            let used = try await session.credentials(for: target)
            #expect(used.proofKey == first.proofKey && (used.proofKey != nil) == bound)
            server.expireAccessTokens()
            #expect(try await session.get(api, for: target).statusCode == 200)
            #expect(try await session.credentials(for: target).accessToken != used.accessToken)
            #expect(SignedIn.refreshes(at: server).map { $0.form.all("resource") } == [[api], [api]])
        }
    }

    @Test func `tasks that need several tokens at once send one request for each`() async throws {
        try await Self.withTwoAPIs(now: SignedIn.later) { server, _, session, _ in
            let targets = [nil, try Self.photosOnly(), try Self.mailOnly()]
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for target in targets + targets + targets + targets {
                    group.addTask { try await session.credentials(for: target).accessToken }
                }
                return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 3)
            #expect(SignedIn.refreshes(at: server).count == 3)
            #expect(server.requests(to: .token).count == 4)
        }
    }

    @Test func `a token for one API that is still valid is not held back by its refresh`() async throws {
        try await Self.withTwoAPIs { server, store, session, _ in
            let photos = try await session.credentials(for: Self.photosOnly())
            let end = try #require(photos.expires)
            let transport = TurnstileTransport(holding: server.url(of: .token))
            let later = TokenSession(ofAnyClientIn: store, transport: transport, now: { end.addingTimeInterval(-9) })
            var events = later.events.makeAsyncIterator()
            #expect(try await later.credentials(for: Self.photosOnly()).accessToken == photos.accessToken)
            await transport.arrivals(1)
            transport.open()
            guard case .refreshed? = await events.next() else {
                Issue.record("it was not refreshed")
                return
            }
            #expect(SignedIn.refreshes(at: server).map { $0.form.all("resource") } == [[Self.photos], [Self.photos]])
            let fresh = try await later.credentials(for: Self.photosOnly())
            #expect(fresh.accessToken.exposed == server.accessTokens.last)
        }
    }

    @Test func `an expired token for an API is refreshed, and forgotten with the next one`() async throws {
        let clock = Mutex(Date())
        try await Self.withTwoAPIs(now: { clock.withLock(\.self) }) { server, store, session, _ in
            let photos = try await session.credentials(for: Self.photosOnly())
            clock.withLock { $0 = Date().addingTimeInterval(3601) }
            let mail = try await session.credentials(for: Self.mailOnly())
            let stored = try #require(try await store.credentials(of: .standard))
            #expect(stored.narrowed.map(\.accessToken) == [mail.accessToken])
            #expect(try await session.credentials(for: Self.photosOnly()).accessToken != photos.accessToken)
            #expect(SignedIn.refreshes(at: server).count == 3)
        }
    }

    @Test func `a sign-in keeps sixteen tokens for its parts`() async throws {
        let names = (0..<18).map { "scope-\($0)" }
        var script = ServerScript(.rotatesStrictly)
        script.tokens.lifetime = 7200
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, scope: names.joined(separator: " "), in: store)
            let session = TokenSession(ofAnyClientIn: store)
            for name in names { _ = try await session.credentials(for: AccessTarget(scope: Scope(parsing: name))) }
            let kept = try #require(try await store.credentials(of: .standard)).narrowed
            #expect(kept.compactMap { $0.target.scope?.description } == Array(names.dropFirst(2)))
        }
    }

    // RFC 7009 §2.1
    @Test func `a sign-out revokes and deletes the tokens for parts of the sign-in`() async throws {
        try await Self.withTwoAPIs { server, store, session, first in
            let photos = try await session.credentials(for: Self.photosOnly())
            let mail = try await session.credentials(for: Self.mailOnly())
            #expect(try await session.signOut() == .revoked)
            let revoked = server.requests(to: .revocation).compactMap { $0.form["token"] }
            let accessTokens = [first, photos, mail].map(\.accessToken.exposed)
            let refreshToken = try #require(server.refreshTokens.last)
            #expect(revoked == [refreshToken] + accessTokens)
            #expect(try await store.record(of: .standard) == nil)
        }
    }

    @Test func `a new sign-in replaces the tokens for parts of the former one`() async throws {
        try await Self.withTwoAPIs { server, store, session, _ in
            let photos = try await session.credentials(for: Self.photosOnly())
            let scope = "openid photos.read mail.send"
            let fresh = try await SignedIn.signIn(at: server, scope: scope, options: try Self.options()).run()
            try await session.adopt(fresh)
            let stored = try #require(try await store.credentials(of: .standard))
            #expect(stored.narrowed.isEmpty)
            #expect(server.requests(to: .revocation).contains { $0.form["token"] == photos.accessToken.exposed })
            #expect(try await session.credentials(for: Self.photosOnly()).accessToken != photos.accessToken)
        }
    }

    @Test func `without a refresh token there is no token for a part of the sign-in`() async throws {
        try await Self.withTwoAPIs(changing: { $0.refreshTokens.issue = .never }) { server, _, session, first in
            await #expect(throws: SessionError.targetRefused(.noRefreshToken)) {
                try await session.credentials(for: Self.photosOnly())
            }
            let whole = try await session.credentials()
            #expect(whole.accessToken == first.accessToken)
            #expect(server.requests(to: .token).count == 1)
        }
    }

    @Test func `a stored record keeps the tokens for parts, and a damaged list of them ends nothing`() async throws {
        try await Self.withTwoAPIs { _, store, session, _ in
            _ = try await session.credentials(for: Self.photosOnly())
            let record = try #require(try await store.record(of: .standard))
            let bytes = try record.stored(at: "here")
            #expect(try TokenRecord(stored: bytes, at: "here") == record)
            let text = String(decoding: bytes, as: UTF8.self)
            for (key, replacement) in ["\"narrowed\":[{": "\"narrowed\":[5,{", "\"narrowed\":": "\"another\":"] {
                let changed = text.replacing(key, with: replacement)
                #expect(changed != text)
                let read = try TokenRecord(stored: Data(changed.utf8), at: "here")
                #expect(read.credentials.narrowed.isEmpty)
                #expect(read.credentials.refreshToken == record.credentials.refreshToken)
            }
            let photos = try await session.credentials(for: Self.photosOnly())
            let decoded = try JSONDecoder().decode(Credentials.self, from: try JSONEncoder().encode(photos))
            #expect(decoded == photos && decoded.allowedOrigins == photos.allowedOrigins)
        }
    }

    // RFC 6750 §3.1
    @Test func `a step-up for one API signs in for all of them again`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            server.change { $0.api.requiredScope = "photos.write" }
            let store: any TokenStore = MemoryTokenStore()
            let api = server.url(of: .api)
            var options = NativeSignIn.Options()
            options.resources = [try Resource(api), try Resource(Self.mail)]
            try await SignedIn.at(server, scope: "openid photos.read", in: store, options: options)
            let session = TokenSession(ofAnyClientIn: store)
            let target = try AccessTarget(resource: api)
            let answer = try await session.send(TransportRequest(api: api), for: target) { prepared in
                var signIn = prepared
                signIn.browser = ScriptedBrowser()
                return try await signIn.run()
            }
            #expect(answer.statusCode == 200)
            let stored = try #require(try await store.credentials(of: .standard))
            #expect(stored.resources == options.resources && stored.refreshToken != nil)
            #expect(stored.scope.description == "openid photos.read photos.write")
        }
    }

    // RFC 6749 §4.4.2, RFC 9449 §5
    @Test(arguments: [false, true])
    func `a stored service requests a token for one API with its own authentication`(bound: Bool) async throws {
        var script = ServerScript()
        script.clients.authentication = .basic
        script.tokens.format = .jwt
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            var signIn = try ServiceSignInTests.signIn(at: server, scope: "photos.read mail.send")
            signIn.resources = [try Resource(Self.photos), try Resource(Self.mail)]
            signIn.bindsTokens = bound
            let whole = try await signIn.credentials(in: store)
            func photos() async throws -> Credentials {
                try await signIn.credentials(
                    in: store, profile: .standard, minimumLifetime: 10, for: try Self.photosOnly())
            }
            let first = try await photos()
            #expect(try Self.audience(of: first) == [Self.photos])
            #expect(first.proofKey == whole.proofKey && (first.proofKey != nil) == bound)
            #expect(try await photos().accessToken == first.accessToken)
            #expect(try await signIn.credentials(in: store).accessToken == whole.accessToken)
            #expect(server.requests(to: .token).map { $0.form.all("resource").count } == [2, 1])
            let other = try AccessTarget(resource: "https://other.example.com")
            await #expect(throws: SessionError.self) {
                try await signIn.credentials(in: store, profile: .standard, minimumLifetime: 10, for: other)
            }
            // Another token for the whole sign-in leaves those for its parts valid, unless they have another key.
            try await store.expire(whole.accessToken, of: .standard)
            #expect(try await signIn.credentials(in: store).accessToken != whole.accessToken)
            #expect(try await (photos().accessToken == first.accessToken) == !bound)
        }
    }
}
