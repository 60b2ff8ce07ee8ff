import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of a new sign-in that replaces a former one.
@Suite(.timeLimit(.minutes(2)))
struct SessionAdoptionTests {
    private static func revoked(at server: ScriptedAuthorizationServer) -> [String?] {
        server.requests(to: .revocation).map { $0.form["token"] }
    }

    @Test(arguments: ["photos.read", "openid photos.read"])
    func `a new sign-in revokes the tokens that it replaces`(scope: String) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let signIn = try SignedIn.signIn(at: server, scope: scope)
            let store: any TokenStore = MemoryTokenStore()
            let session = TokenSession(for: signIn, store: store)
            let first = try await session.adopt(try await signIn.run())
            #expect(server.requests(to: .revocation).isEmpty)
            let second = try await session.adopt(try await signIn.run())
            #expect(Self.revoked(at: server).contains(first.refreshToken?.exposed))
            #expect(!Self.revoked(at: server).contains(second.refreshToken?.exposed))
            #expect(try await store.credentials(of: .standard) == second)
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
        }
    }

    // The former sign-in was at another server.
    @Test func `a new sign-in revokes the tokens of another server there`() async throws {
        try await ScriptedAuthorizationServer.run { former in
            try await ScriptedAuthorizationServer.run { server in
                let store: any TokenStore = MemoryTokenStore()
                let first = try await SignedIn.at(former, in: store)
                let session = TokenSession(for: try SignedIn.signIn(at: server), store: store)
                try await session.signedIn()
                #expect(Self.revoked(at: former).contains(first.refreshToken?.exposed))
                #expect(server.requests(to: .revocation).isEmpty)
            }
        }
    }

    // Google and Zoho issue a refresh token with the first sign-in only.
    @Test func `a second sign-in without a refresh token keeps the former one`() async throws {
        try await PlayedVendor.google.run { server in
            let transport = LeadingTransport(to: server)
            let store: any TokenStore = MemoryTokenStore()
            var signIn = try PlayedVendor.google.signIn(over: transport)
            let session = TokenSession(for: signIn, store: store)
            let first = try await session.adopt(try await signIn.run())
            let token = try #require(first.refreshToken)
            signIn.options.hasRefreshToken = true
            let answer = try await signIn.run()
            #expect(answer.refreshToken == nil)
            let second = try await session.adopt(answer)
            #expect(second.refreshToken == token)
            let third = try await session.refreshed(replacing: second.accessToken)
            #expect(third.accessToken != second.accessToken)
        }
    }

    @Test func `the refresh token of another user, or of an unknown one, is not kept`() async throws {
        for scope in ["openid photos.read", "photos.read"] {
            try await ScriptedAuthorizationServer.run { server in
                let signIn = try SignedIn.signIn(at: server, scope: scope)
                let session = TokenSession(for: signIn, store: MemoryTokenStore())
                let alice = try await session.adopt(try await signIn.run())
                server.change {
                    $0.authorization.subject = "mallory"
                    $0.refreshTokens.issue = .never
                }
                let mallory = try await session.adopt(try await signIn.run())
                #expect(mallory.refreshToken == nil)
                #expect(Self.revoked(at: server).contains(alice.refreshToken?.exposed))
            }
        }
    }

    // RFC 7009 §2.1
    @Test func `no token is revoked where that would end the new sign-in`() async throws {
        try await PlayedVendor.google.run { server in
            let transport = LeadingTransport(to: server)
            let signIn = try PlayedVendor.google.signIn(over: transport)
            let session = TokenSession(for: signIn, store: MemoryTokenStore())
            let first = try await session.adopt(try await signIn.run())
            let second = try await session.adopt(try await signIn.run())
            #expect(second.refreshToken != first.refreshToken)
            #expect(server.requests(to: .revocation).isEmpty)
        }
        // Keycloak has one session of a client for all its sign-ins in a browser.
        var script = ServerScript()
        script.paths[.revocation] = "/realms/x/protocol/openid-connect/revoke"
        try await ScriptedAuthorizationServer.run(script) { server in
            let signIn = try SignedIn.signIn(at: server, scope: "openid")
            let session = TokenSession(for: signIn, store: MemoryTokenStore())
            try await session.adopt(try await signIn.run())
            try await session.adopt(try await signIn.run())
            #expect(server.requests(to: .revocation).isEmpty)
            server.change { $0.authorization.subject = "bob" }
            try await session.adopt(try await signIn.run())
            #expect(!server.requests(to: .revocation).isEmpty)
        }
    }

    @Test func `a new sign-in is kept although the former one cannot be revoked`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let signIn = try SignedIn.signIn(at: server)
            let session = TokenSession(for: signIn, store: MemoryTokenStore())
            try await session.adopt(try await signIn.run())
            server.change { $0.interruptions = [Interruption(at: .revocation, .trouble(503))] }
            let second = try await session.adopt(try await signIn.run())
            #expect(try await session.credentials() == second)
        }
    }

    @Test func `credentials of another client are not adopted`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let session = TokenSession(
                issuer: server.issuer, clientID: try #require(ClientIdentifier("ledger")), store: store)
            let foreign = try await SignedIn.signIn(at: server).run()
            await #expect(throws: SessionError.self) { try await session.adopt(foreign) }
            #expect(try await store.record(of: .standard) == nil)
        }
    }

    // MARK: Credentials, or sign in

    @Test func `the user signs in only if no user is signed in`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let signIn = try SignedIn.signIn(at: server)
            let store: any TokenStore = MemoryTokenStore()
            let session = TokenSession(for: signIn, store: store)
            let first = try await session.signedIn()
            #expect(try await TokenSession(for: signIn, store: store).signedIn() == first)
            #expect(server.requests(to: .token).count == 1)
            // After the end of the session, the user signs in again.
            server.revokeEverything()
            let later = TokenSession(for: signIn, store: store, now: SignedIn.later)
            let second = try await later.signedIn()
            #expect(second.accessToken != first.accessToken)
            #expect(try await store.credentials(of: .standard) == second)
        }
    }

    @Test func `a server that is unavailable does not cause a sign-in`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let signIn = try SignedIn.signIn(at: server)
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503))] }
            let session = TokenSession(for: signIn, store: store, now: SignedIn.later)
            let error = await #expect(throws: SessionError.self) { try await session.signedIn() }
            guard case .unavailable = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `tasks that ask at once share one sign-in`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let signIn = try SignedIn.signIn(at: server)
            let session = TokenSession(for: signIn, store: MemoryTokenStore())
            let results = try await withThrowingTaskGroup(of: Credentials.self) { group in
                for _ in 0..<8 { group.addTask { try await session.signedIn() } }
                return try await group.reduce(into: Set<Credentials>()) { $0.insert($1) }
            }
            #expect(results.count == 1)
            #expect(server.requests(to: .token).count == 1)
        }
    }

    @Test func `a sign-in is cancelled when no task waits for it any more`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try SignedIn.signIn(at: server)
            signIn.browser = NoBrowser()
            let session = TokenSession(for: signIn, store: MemoryTokenStore())
            let (opened, opening) = AsyncStream.makeStream(of: Void.self)
            let first = Task {
                try await session.signedIn { if case .opening = $0 { opening.yield() } }
            }
            for await _ in opened.prefix(1) {}
            let second = Task { try await session.signedIn() }
            second.cancel()
            await #expect(throws: SessionError.cancelled) { try await second.value }
            first.cancel()
            await #expect(throws: SessionError.cancelled) { try await first.value }
            // The port is free again, and the next sign-in works.
            signIn.browser = ScriptedBrowser()
            try await TokenSession(for: signIn, store: MemoryTokenStore()).signedIn()
        }
    }

    @Test func `a failed sign-in is reported with its reason`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.deniesAccess)) { server in
            let signIn = try SignedIn.signIn(at: server)
            let session = TokenSession(for: signIn, store: MemoryTokenStore())
            let error = await #expect(throws: SessionError.self) { try await session.signedIn() }
            guard case .signInFailed(.refused) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    // MARK: A store that cannot be written

    /// A store in memory whose writes fail while it is full.
    private final class FullStore: TokenStore {
        let store = MemoryTokenStore()
        private let isFull = Mutex(false)
        static let full = TokenStoreError.failed(path: "tokens", reason: "no space left on device")

        func fill(_ full: Bool) { isFull.withLock { $0 = full } }

        func record(of profile: ProfileName) -> TokenRecord? { store.record(of: profile) }

        func profiles() -> [StoredProfile] { store.profiles() }

        func refreshLock(
            of profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> TokenStoreLock {
            try await store.refreshLock(of: profile, within: limit)
        }

        func checkWritable(_ profile: ProfileName) throws(TokenStoreError) {
            if isFull.withLock(\.self) { throw Self.full }
        }

        func update(
            _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
        ) throws(TokenStoreError) -> StoredRecord {
            try checkWritable(profile)
            return store.update(profile, decide)
        }
    }

    @Test func `a store that cannot be written is reported before the user signs in`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = FullStore()
            store.fill(true)
            let signIn = try SignedIn.signIn(at: server)
            let session = TokenSession(for: signIn, store: store)
            await #expect(throws: SessionError.store(FullStore.full)) { try await session.signedIn() }
            #expect(server.requests.isEmpty)
            store.fill(false)
            try await session.signedIn()
        }
    }

    @Test func `the program gets the credentials that cannot be stored, and can store or revoke them`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = FullStore()
            let signIn = try SignedIn.signIn(at: server)
            let session = TokenSession(for: signIn, store: store)
            let error = await #expect(throws: SessionError.self) {
                try await session.signedIn { if $0 == .answered { store.fill(true) } }
            }
            guard case .notStored(let credentials, FullStore.full)? = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect("\(error as Any)".contains(credentials.accessToken.exposed) == false)
            #expect(Self.revoked(at: server).isEmpty)
            let api = server.url(of: .api)
            let client = ResourceClient(credentials, origins: [try APIOrigin(EndpointURL(api).origin)])
            #expect(try await client.get(api).statusCode == 200)
            store.fill(false)
            #expect(try await session.adopt(credentials) == credentials)
            #expect(try await session.credentials() == credentials)
        }
    }

    @Test func `a step-up tries the store before the user signs in`() async throws {
        var script = ServerScript()
        script.api.requiredScope = "photos.write"
        try await ScriptedAuthorizationServer.run(script) { server in
            let store = FullStore()
            let signIn = try SignedIn.signIn(at: server)
            let session = TokenSession(
                issuer: signIn.issuer, clientID: try #require(ClientIdentifier("lightbox")), store: store,
                origins: [try APIOrigin(EndpointURL(server.url(of: .api)).origin)])
            let former = try await session.adopt(try await signIn.run())
            let request = try TransportRequest(api: server.url(of: .api))
            store.fill(true)
            await #expect(throws: SessionError.store(FullStore.full)) {
                try await session.send(request) { prepared in
                    Issue.record("the user signed in")
                    return try await prepared.run()
                }
            }
            store.fill(false)
            let error = await #expect(throws: SessionError.self) {
                try await session.send(request) { prepared in
                    var prepared = prepared
                    prepared.browser = ScriptedBrowser()
                    let fresh = try await prepared.run()
                    store.fill(true)
                    return fresh
                }
            }
            guard case .notStored(let credentials, _)? = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(credentials.accessToken != former.accessToken)
        }
    }

    // MARK: Command line

    @Test func `a second login revokes the first, and keeps a refresh token that is not issued again`() async throws {
        var script = ServerScript(.noPushedRequests)
        script.refreshTokens.rotation = .never
        try await ScriptedAuthorizationServer.run(script) { server in
            let directory = try TemporaryDirectory()
            func login() async throws {
                let outcome = try await CommandLineTool.run(
                    [
                        "login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print", "--scope",
                        "openid",
                    ], home: directory.url
                ) { line in
                    guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                    Task { _ = await ScriptedBrowser().open(url) }
                }
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            try await login()
            try await login()
            #expect(Self.revoked(at: server).contains(server.refreshTokens[0]))
            let kept = server.refreshTokens[1]
            server.change {
                $0.refreshTokens.issue = .never
                $0.tokens.lifetime = 1
            }
            try await login()
            server.change { $0.tokens.lifetime = 3600 }
            #expect(!Self.revoked(at: server).contains(kept))
            let token = try await CommandLineTool.run(["token"], home: directory.url)
            #expect(token.status == 0, "\(token.errors)")
            #expect(SignedIn.refreshes(at: server).last?.form["refresh_token"] == kept)
        }
    }
}
