import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of sessions of services.
@Suite(.timeLimit(.minutes(2)))
struct ServiceSessionTests {
    @Test func `fifty tasks make one request`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let session = ServiceSession(try ServiceSignInTests.signIn(at: server))
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<50 { group.addTask { try await session.credentials().accessToken } }
                return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            #expect(server.requests(to: .token).count == 1)
        }
    }

    @Test func `a token is replaced before it expires`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let clock = Mutex(Date())
            let session = ServiceSession(try ServiceSignInTests.signIn(at: server), now: { clock.withLock { $0 } })
            let first = try await session.credentials()
            clock.withLock { $0 += 3580 }
            #expect(try await session.credentials() == first)
            clock.withLock { $0 += 15 }
            // The first token is returned until the new one is there.
            _ = try await Waiting.until("another token") { try await session.credentials() != first ? true : nil }
        }
    }

    @Test func `a token that is still valid is used while the server is unavailable`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let clock = Mutex(Date())
            let session = ServiceSession(try ServiceSignInTests.signIn(at: server), now: { clock.withLock { $0 } })
            let first = try await session.credentials()
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503, retryAfter: "120"))] }
            clock.withLock { $0 += 3595 }
            #expect(try await session.credentials() == first)
            _ = try await server.requests(to: .token, atLeast: 2)
            #expect(try await session.credentials() == first)
            // No request is sent before the end of Retry-After.
            #expect(server.requests(to: .token).count == 2)
            clock.withLock { $0 += 10 }
            await #expect { try await session.credentials() } throws: { error in
                if case .unavailable = error as? SignInError { true } else { false }
            }
            #expect(server.requests(to: .token).count == 2)
        }
    }

    // RFC 6750 §3.1
    @Test func `a token that the API rejects is replaced, and the call repeated once`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let session = ServiceSession(try ServiceSignInTests.signIn(at: server))
            _ = try await session.credentials()
            server.expireAccessTokens()
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
            #expect(server.requests(to: .api).count == 2)
            #expect(server.requests(to: .token).count == 2)
        }
    }

    @Test func `an API that rejects every token is called only twice`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.losesAuthorization)) { server in
            let session = ServiceSession(try ServiceSignInTests.signIn(at: server))
            #expect(try await session.get(server.url(of: .api)).statusCode == 401)
            #expect(server.requests(to: .api).count == 2)
        }
    }

    @Test func `the token of a service goes to no origin that was not named`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try ServiceSignInTests.signIn(at: server)
            signIn.apiOrigins = [try APIOrigin("https://photos.example.com")]
            let session = ServiceSession(signIn)
            await #expect(throws: (any Error).self) { try await session.get(server.url(of: .api)) }
            #expect(server.requests(to: .api).isEmpty)
        }
    }
}
