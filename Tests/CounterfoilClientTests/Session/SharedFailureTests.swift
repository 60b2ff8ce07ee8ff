import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of sessions, each of which stands for a process, that need a new access token while the refresh fails.
@Suite(.timeLimit(.minutes(2)))
struct SharedFailureTests {
    /// A store in memory that counts those who have asked for the refresh lock.
    private final class WatchedStore: TokenStore {
        private let store = MemoryTokenStore()
        private let count = Mutex(0)
        private let keepsFailures: Bool
        /// The failure that was left when the record was deleted; nil if it was not deleted, or if there was none.
        let failureAtRemoval = Mutex<RefreshFailure?>(nil)

        init(keepsFailures: Bool = true) { self.keepsFailures = keepsFailures }

        func record(of profile: ProfileName) -> TokenRecord? { store.record(of: profile) }

        func profiles() -> [StoredProfile] { store.profiles() }

        func update(
            _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
        ) -> StoredRecord {
            let kept = store.record(of: profile).map { StoredRecord.record($0) } ?? .none
            if decide(kept) == .remove { failureAtRemoval.withLock { $0 = store.refreshFailure(of: profile) } }
            return store.update(profile, decide)
        }

        func refreshLock(
            of profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> TokenStoreLock {
            count.withLock { $0 += 1 }
            return try await store.refreshLock(of: profile, within: limit)
        }

        func refreshFailure(of profile: ProfileName) -> RefreshFailure? {
            keepsFailures ? store.refreshFailure(of: profile) : nil
        }

        func askedForLock(_ times: Int) async throws {
            _ = try await Waiting.until("\(times) sessions at the lock") { count.withLock { $0 } >= times ? true : nil }
        }
    }

    /// Returns the errors of twenty sessions that all wait for one refresh, whose requests have a time limit.
    private static func errors(
        of store: WatchedStore, at server: ScriptedAuthorizationServer, limit: Duration = .seconds(60)
    ) async throws -> [SessionError] {
        let turnstile = TurnstileTransport(holding: server.url(of: .token))
        let transport = DeadlineTransport(transport: turnstile, limit: limit, deadline: .now + .seconds(100))
        return try await withThrowingTaskGroup(of: SessionError?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let session = TokenSession(ofAnyClientIn: store, transport: transport, now: SignedIn.later)
                    do throws(SessionError) { _ = try await session.credentials() } catch { return error }
                    return nil
                }
            }
            try await store.askedForLock(20)
            turnstile.open()
            return try await group.reduce(into: []) { errors, error in errors += error.map { [$0] } ?? [] }
        }
    }

    @Test(
        arguments: [
            (.trouble(503), 1), (.trouble(429, retryAfter: "120"), 1), (.closed, 3), (.html(), 3), (.silent, 3),
            (.refusal("unauthorized_client"), 1),
        ] as [(ScriptedAnswer, Int)])
    func `those who wait for a refresh report its failure and send no request`(
        answer: ScriptedAnswer, attempts: Int
    ) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store = WatchedStore()
            try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, answer)] }
            let limit = answer == .silent ? Duration.milliseconds(300) : .seconds(60)
            let errors = try await Self.errors(of: store, at: server, limit: limit)
            #expect(SignedIn.refreshes(at: server).count <= attempts)
            #expect(errors.count == 20)
            #expect(Set(errors.map(\.description)).count == 1, "\(Set(errors.map(\.description)))")
            let isTemporary = errors.allSatisfy { if case .unavailable = $0 { true } else { false } }
            #expect(isTemporary, "\(errors)")
        }
    }

    // RFC 6749 §5.2
    @Test func `every session says why it has ended, until the next sign-in`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store = WatchedStore()
            try await SignedIn.at(server, in: store)
            let user = TokenSession(ofAnyClientIn: store)
            server.revokeEverything()
            for error in try await Self.errors(of: store, at: server) {
                guard case .ended(.refused(let refusal), afterLostResponse: false) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(refusal.code == .invalidGrant)
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
            await #expect(throws: SessionError.self) { try await user.credentials() }
            let late = await #expect(throws: SessionError.self) {
                try await TokenSession(ofAnyClientIn: store).credentials()
            }
            #expect(late?.description.hasPrefix("the session has ended: the server refused: invalid_grant") == true)
            // A session of another client learns nothing of it.
            let other = TokenSession(
                issuer: server.issuer, clientID: try #require(ClientIdentifier("darkroom")), store: store)
            await #expect(throws: SessionError.notSignedIn(.standard)) { try await other.credentials() }
            _ = try await user.adopt(try await SignedIn.signIn(at: server).run())
            _ = try await user.signOut()
            await #expect(throws: SessionError.notSignedIn(.standard)) { try await user.credentials() }
        }
    }

    // A process that finds no record looks for the failure.
    @Test(arguments: [false, true])
    func `the reason why a session ended is left before the record is deleted`(otherUser: Bool) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store = WatchedStore()
            try await SignedIn.at(server, scope: "openid photos.read", in: store)
            if otherUser {
                server.change { $0.idToken.subjectAfterRefresh = "mallory" }
            } else {
                server.revokeEverything()
            }
            let session = TokenSession(ofAnyClientIn: store, now: SignedIn.later)
            let error = await #expect(throws: SessionError.self) { try await session.credentials() }
            let left = store.failureAtRemoval.withLock { $0 }
            #expect(left?.error.description == error?.description)
            let kept: any TokenStore = store
            #expect(await kept.refreshFailure(of: .standard) == left)
        }
    }

    // RFC 9110 §10.2.3
    @Test func `Retry-After holds for every later call of a session whose store keeps no failures`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store = WatchedStore(keepsFailures: false)
            try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503, retryAfter: "120"))] }
            let session = TokenSession(ofAnyClientIn: store, now: SignedIn.later)
            await #expect(throws: SessionError.self) { try await session.credentials() }
            for _ in 0..<2 {
                await #expect {
                    try await session.credentials()
                } throws: { error in
                    if case .paused = error as? SessionError { true } else { false }
                }
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    /// Returns the session of a process, which shares nothing with others but a file.
    private static func process(
        _ directory: TemporaryDirectory, now: @escaping @Sendable () -> Date = SignedIn.later
    ) -> TokenSession {
        TokenSession(
            ofAnyClientIn: EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile), now: now)
    }

    // RFC 9110 §10.2.3
    @Test(arguments: [("120", 100...121), ("86400", 3500...3600)] as [(String, ClosedRange<Int>)])
    func `Retry-After holds for processes that start later, for an hour at most`(
        field: String, expected: ClosedRange<Int>
    ) async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run { server in
            let store = EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile)
            try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503, retryAfter: field))] }
            await #expect(throws: SessionError.self) { try await Self.process(directory).credentials() }
            let error = await #expect(throws: SessionError.self) { try await Self.process(directory).credentials() }
            guard case .paused(let seconds) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(expected.contains(seconds))
            #expect(SignedIn.refreshes(at: server).count == 1)
            // No text of the failure is a secret.
            let left = try Data(contentsOf: directory.file("tokens.default.refresh"))
            for secret in server.secrets { #expect(!String(decoding: left, as: UTF8.self).contains(secret)) }
            server.change { $0.interruptions = [] }
            // When the time has passed, or if the clock was set back, the server is asked.
            _ = try await Self.process(directory) { Date().addingTimeInterval(3599 + 3601) }.credentials()
            #expect(SignedIn.refreshes(at: server).count == 2)
        }
    }

    @Test func `a damaged time in the lock file pauses for an hour at most`() async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run { server in
            let store = EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile)
            try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503, retryAfter: "120"))] }
            await #expect(throws: SessionError.self) { try await Self.process(directory).credentials() }
            let file = directory.file("tokens.default.refresh")
            let left = try String(contentsOf: file, encoding: .utf8)
            let damaged = left.replacing(/"paused_until":[0-9.]+/, with: "\"paused_until\":1e300")
            #expect(damaged != left)
            try damaged.write(to: file, atomically: false, encoding: .utf8)
            let error = await #expect(throws: SessionError.self) { try await Self.process(directory).credentials() }
            guard case .paused(let seconds) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect((3500...3600).contains(seconds))
        }
    }

    @Test func `a pause that began in the future of the clock, or before a new sign-in, does not hold`() async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run { server in
            let store = EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile)
            try await SignedIn.at(server, in: store)
            let pause = Interruption(at: .token, .trouble(429, retryAfter: "3000"))
            server.change { $0.interruptions = [pause] }
            let ahead = Self.process(directory) { Date().addingTimeInterval(86_400) }
            await #expect(throws: SessionError.self) { try await ahead.credentials() }
            server.change { $0.interruptions = [] }
            #expect(try await Self.process(directory).credentials().accessToken.exposed == server.accessTokens.last)
            server.change { $0.interruptions = [pause] }
            let later: @Sendable () -> Date = { Date().addingTimeInterval(2 * 3599) }
            await #expect(throws: SessionError.self) { try await Self.process(directory, now: later).credentials() }
            server.change { $0.interruptions = [] }
            try await SignedIn.at(server, in: store)
            #expect(
                try await Self.process(directory, now: later).credentials().accessToken.exposed
                    == server.accessTokens.last)
        }
    }

    @Test func `after a failure a moment ago, a process asks the server once and not three times`() async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run { server in
            let store = EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile)
            try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .closed)] }
            let now = SignedIn.later()
            for expected in [3, 4, 5] {
                let process = Self.process(directory) { now }
                await #expect(throws: SessionError.self) { try await process.credentials() }
                #expect(SignedIn.refreshes(at: server).count == expected)
            }
        }
    }

    @Test func `a service that waits for a moment only leaves no failure to those who wait longer`() async throws {
        var script = ServerScript()
        script.clients.authentication = .basic
        try await ScriptedAuthorizationServer.run(script) { server in
            let signIn = try ServiceSignInTests.signIn(at: server)
            let store: any TokenStore = MemoryTokenStore()
            var kept = try await signIn.credentials(in: store)
            kept.expires = Date().addingTimeInterval(9)
            try await store.save(kept, as: .standard)
            server.change { $0.interruptions = [Interruption(at: .token, .silent)] }
            #expect(try await signIn.credentials(in: store).accessToken == kept.accessToken)
            #expect(await store.refreshFailure(of: .standard) == nil)
            server.change { $0.interruptions = [] }
            let fresh = try await signIn.credentials(in: store, minimumLifetime: 600)
            #expect(fresh.accessToken.exposed == server.accessTokens.last)
        }
    }

    @Test func `no failure contains a client secret that the server repeats`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.clients.authentication = .basic
        script.clients.secret = "wrench/+4711"
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = EncryptedFileTokenStore(
                file: directory.file("tokens"), placement: .besideTheFile)
            let signIn = try ServiceSignInTests.signIn(at: server)
            // The description is cut within the last word.
            let blanks = String(repeating: " ", count: 974)
            let echo = "no client has wrench/+4711 (wrench%2F%2B4711)\(blanks)wrench/+4711"
            server.change { $0.interruptions = [Interruption(at: .token, .refusal("invalid_client", echo))] }
            await #expect(throws: SignInError.self) { try await signIn.credentials(in: store) }
            let failure = try #require(await store.refreshFailure(of: .standard))
            #expect(failure.error.description.contains("no client has <redacted> (<redacted>)"), "\(failure.error)")
            let left = try String(contentsOf: directory.file("tokens.default.refresh"), encoding: .utf8)
            #expect(left.contains("invalid_client") && !left.contains("4711"), "\(left)")
        }
    }

    @Test func `services share the failure of a request`() async throws {
        var script = ServerScript()
        script.clients.authentication = .basic
        try await ScriptedAuthorizationServer.run(script) { server in
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503, retryAfter: "120"))] }
            let store = MemoryTokenStore()
            let signIn = try ServiceSignInTests.signIn(at: server)
            for _ in 0..<3 {
                await #expect {
                    try await signIn.credentials(in: store)
                } throws: { error in
                    if case .unavailable = error as? SignInError { true } else { false }
                }
            }
            #expect(server.requests(to: .token).count == 1)
        }
    }
}
