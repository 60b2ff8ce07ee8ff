import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import Testing

/// Tests of concurrent tasks in one process that request a fresh access token.
@Suite(.timeLimit(.minutes(2)))
struct SharedRefreshTests {
    // RFC 6749 §6
    @Test func `fifty tasks make one request, and all of them get its token`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            let transport = TurnstileTransport(holding: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: transport, now: SignedIn.later)
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<50 { group.addTask { try await session.credentials().accessToken } }
                group.addTask {
                    await transport.arrivals(1)
                    transport.open()
                    return try await session.credentials().accessToken
                }
                return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            #expect(tokens.first != first.accessToken)
            #expect(SignedIn.refreshes(at: server).count == 1)
            #expect(try await store.credentials(of: .standard)?.accessToken == tokens.first)
        }
    }

    @Test func `fifty sessions of one store make one request`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await TokenSession(ofAnyClientIn: store, transport: .standard, now: SignedIn.later)
                            .credentials()
                            .accessToken
                    }
                }
                return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    @Test func `a cancelled task stops waiting and affects neither the other tasks nor the refresh`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let transport = TurnstileTransport(holding: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: transport, now: SignedIn.later)
            let impatient = Task { try await session.credentials() }
            let patient = Task { try await session.credentials() }
            await transport.arrivals(1)
            impatient.cancel()
            await #expect(throws: SessionError.cancelled) { try await impatient.value }
            transport.open()
            let credentials = try await patient.value
            #expect(server.accessTokens.last == credentials.accessToken.exposed)
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    @Test func `the result of a refresh is stored although all waiting tasks were cancelled`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            let transport = TurnstileTransport(holding: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: transport, now: SignedIn.later)
            var events = session.events.makeAsyncIterator()
            let impatient = Task { try await session.credentials() }
            await transport.arrivals(1)
            impatient.cancel()
            await #expect(throws: SessionError.cancelled) { try await impatient.value }
            transport.open()
            guard case .refreshed? = await events.next() else {
                Issue.record("it was not refreshed")
                return
            }
            let kept = try #require(try await store.credentials(of: .standard))
            #expect(kept.accessToken != first.accessToken)
            #expect(kept.refreshToken?.exposed == server.refreshTokens.last)
        }
    }
}
