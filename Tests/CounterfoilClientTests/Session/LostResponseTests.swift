import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of refreshes whose response is lost.
@Suite(.timeLimit(.minutes(5)))
struct LostResponseTests {
    @Test(arguments: CutTransport.Point.allCases, [1, 2])
    func `a lost response is requested again at once`(point: CutTransport.Point, count: Int) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesLeniently)) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let transport = CutTransport(to: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: transport, now: SignedIn.later)
            transport.cut(Array(repeating: point, count: count))
            let credentials = try await session.credentials()
            #expect(credentials.accessToken.exposed == server.accessTokens.last)
            #expect(credentials.refreshToken?.exposed == server.refreshTokens.last)
            #expect(transport.limits.count == count + 1)
            // The same refresh token was sent each time.
            #expect(Set(SignedIn.refreshes(at: server).map { $0.form["refresh_token"] }).count == 1)
            // Together, the requests fit into the grace period of a server.
            #expect(transport.limits.allSatisfy { $0 <= .seconds(15) })
            #expect(transport.limits.reduce(.zero, +) < .seconds(45))
        }
    }

    @Test func `after three lost responses the session waits for the next call`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesLeniently)) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            server.change {
                $0.interruptions = [Interruption(at: .token, grantType: "refresh_token", .closed, moment: .after)]
            }
            let session = TokenSession(ofAnyClientIn: store, now: SignedIn.later)
            let error = await #expect(throws: SessionError.self) { try await session.credentials() }
            guard case .unavailable(.unavailable(.noResponse)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(SignedIn.refreshes(at: server).count == 3)
            server.change { $0.interruptions = [] }
            #expect(try await session.credentials().accessToken.exposed == server.accessTokens.last)
        }
    }

    // A gateway that fails may have passed the request on. A server that asks to wait has not processed it.
    @Test(arguments: [(502, nil, 3), (504, nil, 3), (503, nil, 1), (500, nil, 1), (504, "5", 1), (429, nil, 1)])
    func `the failure of a gateway counts as a lost response`(
        status: Int, retryAfter: String?, count: Int
    ) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(status, retryAfter: retryAfter))] }
            let session = TokenSession(ofAnyClientIn: store, now: SignedIn.later)
            await #expect(throws: SessionError.self) { try await session.credentials() }
            #expect(SignedIn.refreshes(at: server).count == count)
        }
    }

    @Test func `a server that takes the repeated token for stolen ends the session with a reason`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictlyAndDropsTheReply)) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let session = TokenSession(ofAnyClientIn: store, now: SignedIn.later)
            let error = await #expect(throws: SessionError.self) { try await session.credentials() }
            guard case .ended(.refused, afterLostResponse: true) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `a refusal after an error response is not blamed on a lost response`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503))] }
            await #expect(throws: SessionError.self) {
                try await TokenSession(ofAnyClientIn: store, now: SignedIn.later).credentials()
            }
            server.change { $0.interruptions = [] }
            server.revokeEverything()
            let error = await #expect(throws: SessionError.self) {
                try await TokenSession(ofAnyClientIn: store, now: SignedIn.later).credentials()
            }
            guard case .ended(.refused, afterLostResponse: false) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    /// A store that, while it is full, accepts refresh intents and fails to store any other record, as if the process
    /// were killed before it stores the response.
    private final class DyingStore: TokenStore {
        let store: any TokenStore
        private let isDead = Mutex(false)

        init(_ store: any TokenStore) { self.store = store }

        func die(_ dead: Bool) { isDead.withLock { $0 = dead } }

        func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord? {
            try await store.record(of: profile)
        }

        func profiles() async throws(TokenStoreError) -> [StoredProfile] { try await store.profiles() }

        func refreshLock(
            of profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> TokenStoreLock {
            try await store.refreshLock(of: profile, within: limit)
        }

        func update(
            _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> StoredRecord {
            let dead = isDead.withLock(\.self)
            let failed = Mutex(false)
            let before = try await store.update(profile) { kept in
                let change = decide(kept)
                guard dead, case .put(let record) = change, record.refreshIntent == nil else { return change }
                failed.withLock { $0 = true }
                return .keep
            }
            if failed.withLock(\.self) { throw .failed(path: "tokens", reason: "the process was killed") }
            return before
        }
    }

    @Test func `a cut network at any point of a refresh ends no session`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesLeniently)) { server in
            var random = SeededGenerator.ofThisRun()
            let store = DyingStore(MemoryTokenStore())
            try await SignedIn.at(server, scope: "openid photos.read", in: store)
            let transport = CutTransport(to: server.url(of: .token))
            for round in 0..<200 {
                let stale = try #require(try await store.credentials(of: .standard)).accessToken
                transport.cut(
                    (0..<Int.random(in: 0...5, using: &random)).map { _ in
                        CutTransport.Point.allCases.randomElement(using: &random) ?? .afterRequest
                    })
                let places: [ScriptedEndpoint] = [.metadata, .keys, .token]
                let answers: [ScriptedAnswer] = [
                    .closed, .html(), .trouble(502), ScriptedAnswer(body: .text("{}"), delivery: .cutShort),
                ]
                var cuts: [Interruption] = []
                for place in places where Bool.random(using: &random) {
                    cuts.append(
                        Interruption(
                            at: place, times: Int.random(in: 1...4, using: &random),
                            answers.randomElement(using: &random) ?? .closed,
                            moment: Bool.random(using: &random) ? .before : .after))
                }
                let dies = Bool.random(using: &random)
                store.die(dies)
                let interruptions = cuts
                server.change { $0.interruptions = interruptions }
                let session = TokenSession(ofAnyClientIn: store, transport: transport)
                do {
                    _ = try await session.refreshed(replacing: stale)
                } catch {
                    guard case .unavailable? = error as? SessionError else {
                        Issue.record("round \(round): \(error)")
                        return
                    }
                }
                transport.cut([])
                store.die(false)
                server.change { $0.interruptions = [] }
                // The next process continues with what is stored.
                let next = TokenSession(ofAnyClientIn: store, transport: transport)
                let fresh = try await next.refreshed(replacing: stale)
                try #require(fresh.accessToken != stale, "round \(round)")
                try #require(try await store.credentials(of: .standard) == fresh, "round \(round)")
                try #require(fresh.refreshToken?.exposed == server.refreshTokens.last, "round \(round)")
            }
        }
    }
}
