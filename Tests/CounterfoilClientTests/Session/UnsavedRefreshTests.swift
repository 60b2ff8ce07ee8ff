import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Testing

@testable import CounterfoilClient

/// Tests of a refresh whose response cannot be stored: the server has rotated the token, and the disk is full.
@Suite(.timeLimit(.minutes(2)))
struct UnsavedRefreshTests {
    /// A store that, while it is full, accepts refresh intents and fails to store any other record.
    private final class FillingStore: TokenStore {
        private let store = MemoryTokenStore()
        private let isFull = Mutex(false)
        private let writesNevertheless: Bool
        private static let full = TokenStoreError.failed(path: "tokens", reason: "no space left on device")

        /// - Parameter writesNevertheless: Whether a write fails after it has stored the record.
        init(writesNevertheless: Bool = false) { self.writesNevertheless = writesNevertheless }

        func fill(_ full: Bool) { isFull.withLock { $0 = full } }

        func record(of profile: ProfileName) -> TokenRecord? { store.record(of: profile) }

        func profiles() -> [StoredProfile] { store.profiles() }

        func refreshLock(
            of profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> TokenStoreLock {
            try await store.refreshLock(of: profile, within: limit)
        }

        func update(
            _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
        ) throws(TokenStoreError) -> StoredRecord {
            let kept = store.record(of: profile).map { StoredRecord.record($0) } ?? .none
            if isFull.withLock(\.self), case .put(let record) = decide(kept), record.refreshIntent == nil {
                if writesNevertheless { _ = store.update(profile, decide) }
                throw Self.full
            }
            return store.update(profile, decide)
        }
    }

    private typealias Body =
        @Sendable (ScriptedAuthorizationServer, FillingStore, TokenSession, Credentials) async throws -> Void

    /// Runs a test with a signed-in user at a server with single-use refresh tokens, after a refresh with a
    /// full store.
    private static func run(_ body: @escaping Body) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store = FillingStore()
            let first = try await SignedIn.at(server, in: store)
            let session = TokenSession(ofAnyClientIn: store, transport: .standard, now: SignedIn.later)
            let events = session.events
            store.fill(true)
            let fresh = try await session.credentials()
            #expect(fresh.accessToken != first.accessToken)
            #expect(store.record(of: .standard)?.credentials.accessToken == first.accessToken)
            guard case .refreshedButNotSaved(_, .failed)? = await events.first(where: { _ in true }) else {
                Issue.record("nobody was told")
                return
            }
            try await body(server, store, session, fresh)
        }
    }

    // The new token remains in use, and no further request is sent for it.
    @Test func `the new token is used although it could not be stored`() async throws {
        try await Self.run { server, _, session, fresh in
            let again = try await session.credentials()
            #expect(again == fresh)
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    @Test func `the next refresh uses the new token and stores its result`() async throws {
        try await Self.run { server, store, session, fresh in
            await #expect(throws: SessionError.self) { try await session.refreshed(replacing: fresh.accessToken) }
            #expect(SignedIn.refreshes(at: server).count == 1)
            store.fill(false)
            let next = try await session.refreshed(replacing: fresh.accessToken)
            #expect(next.accessToken != fresh.accessToken)
            #expect(store.record(of: .standard)?.credentials == next)
            let sent = SignedIn.refreshes(at: server).map { $0.form["refresh_token"] }
            #expect(sent.count == 2)
            #expect(sent.last == fresh.refreshToken?.exposed)
        }
    }

    @Test(arguments: [false, true])
    func `a sign-out or sign-in elsewhere ends the use of the tokens that were not stored`(signsIn: Bool) async throws {
        try await Self.run { server, store, session, fresh in
            store.fill(false)
            if signsIn {
                try await SignedIn.at(server, in: store)
                let other = try await session.credentials()
                #expect(other.accessToken != fresh.accessToken)
                #expect(store.record(of: .standard)?.credentials == other)
            } else {
                try await store.remove(.standard)
                await #expect(throws: SessionError.notSignedIn(.standard)) { try await session.credentials() }
            }
            #expect(await session.saveError == nil)
            let told = server.requests(to: .revocation).map { $0.form["token"] }
            #expect(told.contains(fresh.refreshToken?.exposed))
        }
    }

    // Naming an API, or ending the lifetime of a rejected token, writes the record with the former refresh token.
    @Test func `tokens that were not stored survive another write of the record that they replace`() async throws {
        try await Self.run { server, store, session, fresh in
            store.fill(false)
            var named = try #require(store.record(of: .standard)).credentials
            named.apiOrigins = [try APIOrigin("https://photos.example.com")]
            try await store.save(named, as: .standard)
            let kept = try await session.credentials()
            #expect(kept.accessToken == fresh.accessToken && kept.apiOrigins == named.apiOrigins)
            #expect(server.requests(to: .revocation).isEmpty)
            let next = try await session.refreshed(replacing: fresh.accessToken)
            #expect(SignedIn.refreshes(at: server).last?.form["refresh_token"] == fresh.refreshToken?.exposed)
            #expect(store.record(of: .standard)?.credentials == next)
            #expect(next.apiOrigins == named.apiOrigins)
        }
    }

    // The first call names its API, and a step-up keeps the refresh token, while another task or process refreshes.
    @Test(arguments: [false, true])
    func `a record that is written again during a refresh gets the new refresh token`(isSteppedUp: Bool) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            let turnstile = TurnstileTransport(holding: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: turnstile)
            async let refreshed = session.refreshed(replacing: first.accessToken)
            await turnstile.arrivals(1)
            var written = first
            written.apiOrigins = [try APIOrigin("https://photos.example.com")]
            if isSteppedUp { written.accessToken = try #require(AccessToken("stepped-up")) }
            try await store.save(written, as: .standard)
            turnstile.open()
            let fresh = try await refreshed
            #expect(fresh.refreshToken != first.refreshToken && fresh.apiOrigins == written.apiOrigins)
            #expect((fresh.accessToken == written.accessToken) == isSteppedUp)
            #expect(try await store.credentials(of: .standard) == fresh)
            #expect(server.requests(to: .revocation).isEmpty)
            _ = try await session.refreshed(replacing: fresh.accessToken)
        }
    }

    // The folder of a file may not be synchronized after the file was replaced (fsync(2)).
    @Test func `tokens that a failed write has stored nevertheless are not revoked`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store = FillingStore(writesNevertheless: true)
            try await SignedIn.at(server, in: store)
            let session = TokenSession(ofAnyClientIn: store, transport: .standard, now: SignedIn.later)
            store.fill(true)
            let fresh = try await session.credentials()
            store.fill(false)
            #expect(try await session.credentials() == fresh)
            #expect(server.requests(to: .revocation).isEmpty)
            let next = try await session.refreshed(replacing: fresh.accessToken)
            #expect(next.accessToken != fresh.accessToken)
        }
    }

    @Test func `signing out revokes the token that was not stored`() async throws {
        try await Self.run { server, store, session, fresh in
            store.fill(false)
            _ = try await session.signOut()
            let told = server.requests(to: .revocation).map { $0.form["token"] }
            #expect(told.contains(fresh.refreshToken?.exposed))
            #expect(store.record(of: .standard) == nil)
        }
    }

    // The new refresh token is in memory only, and the next refresh stores and sends it.
    @Test func `a refresh token beside a refused access token survives a store that is full`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store = FillingStore()
            let first = try await SignedIn.at(server, scope: "openid photos.read", in: store)
            server.change { $0.idToken.replaced = [WireMember("iss", "https://login.example.com")] }
            let session = TokenSession(ofAnyClientIn: store)
            store.fill(true)
            await #expect(throws: SessionError.unavailable(.unsafe(.idToken(.wrongIssuer)))) {
                try await session.refreshed(replacing: first.accessToken)
            }
            #expect(await session.saveError != nil)
            store.fill(false)
            server.change { $0.idToken = IDTokenScript() }
            let fresh = try await session.refreshed(replacing: first.accessToken)
            #expect(fresh.accessToken.exposed == server.accessTokens.last)
            #expect(try await store.credentials(of: .standard) == fresh)
        }
    }
}
