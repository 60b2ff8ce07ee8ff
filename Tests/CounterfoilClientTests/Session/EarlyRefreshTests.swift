import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of the refresh of an access token that is about to expire, and still valid.
@Suite(.timeLimit(.minutes(2)))
struct EarlyRefreshTests {
    /// Runs a test with a token that is due for a refresh and valid for nine seconds, at a server that does not answer
    /// until the transport is opened.
    private static func run(
        _ body:
            @escaping @Sendable (
                ScriptedAuthorizationServer, any TokenStore, TurnstileTransport, Credentials,
                @escaping @Sendable () -> Date
            ) async throws -> Void
    ) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            let end = try #require(first.expires)
            let transport = TurnstileTransport(holding: server.url(of: .token))
            try await body(server, store, transport, first) { end.addingTimeInterval(-9) }
        }
    }

    @Test func `a silent server does not hold a valid token back, and its later answer is stored`() async throws {
        try await Self.run { server, store, transport, first, now in
            let session = TokenSession(ofAnyClientIn: store, transport: transport, now: now)
            var events = session.events.makeAsyncIterator()
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<50 { group.addTask { try await session.credentials().accessToken } }
                return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
            }
            #expect(tokens == [first.accessToken])
            await transport.arrivals(1)
            transport.open()
            guard case .refreshed? = await events.next() else {
                Issue.record("it was not refreshed")
                return
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
            #expect(try await store.credentials(of: .standard)?.refreshToken?.exposed == server.refreshTokens.last)
            #expect(try await session.credentials().accessToken.exposed == server.accessTokens.last)
        }
    }

    @Test func `a valid token is returned while another process refreshes`() async throws {
        try await Self.run { server, store, _, first, now in
            let lock = try await store.refreshLock(of: .standard, within: .zero)
            let session = TokenSession(ofAnyClientIn: store, transport: .standard, now: now)
            #expect(try await session.credentials() == first)
            lock.release()
            #expect(SignedIn.refreshes(at: server).isEmpty)
        }
    }

    @Test func `a program that ends soon has another process refresh`() async throws {
        try await Self.run { server, store, _, first, now in
            let isStarted = Mutex(0)
            let memory = try #require(store as? MemoryTokenStore)
            let host = RefreshHost(begin: {}, end: {}) { _, _ in
                isStarted.withLock { $0 += 1 }
                _ = try? await TokenSession(ofAnyClientIn: store, transport: .standard, now: now).refreshEarly()
            }
            let session = TokenSession(
                .any(registrations: memory), store: store, profile: .standard, origins: .stored, transport: .standard,
                host: host, now: now)
            #expect(try await session.credentials().accessToken.exposed == server.accessTokens.last)
            #expect(try await session.credentials().accessToken != first.accessToken)
            #expect(isStarted.withLock { $0 } == 1)
        }
    }

    @Test func `a service gets its valid token from a silent server, too`() async throws {
        var script = ServerScript()
        script.clients.authentication = .basic
        try await ScriptedAuthorizationServer.run(script) { server in
            var signIn = try ServiceSignInTests.signIn(at: server)
            let store = MemoryTokenStore()
            var kept = try await signIn.credentials(in: store)
            kept.expires = Date().addingTimeInterval(9)
            try await store.save(kept, as: .standard)
            server.change { $0.interruptions = [Interruption(at: .token, .silent)] }
            #expect(try await signIn.credentials(in: store).accessToken == kept.accessToken)

            let transport = TurnstileTransport(holding: server.url(of: .token))
            signIn.transport = transport
            let clock = Mutex(Date())
            let session = ServiceSession(signIn, now: { clock.withLock { $0 } })
            server.change { $0.interruptions = [] }
            async let first = session.credentials()
            await transport.arrivals(1)
            transport.open()
            let token = try await first
            server.change { $0.interruptions = [Interruption(at: .token, .silent)] }
            clock.withLock { $0 += 3591 }
            #expect(try await session.credentials() == token)
        }
    }
}
