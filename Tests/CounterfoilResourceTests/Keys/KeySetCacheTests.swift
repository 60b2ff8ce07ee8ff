import CounterfoilProtocol
import CounterfoilResource
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

@Suite struct KeySetCacheTests {
    private func status(of token: String, at server: ResourceServer) async throws -> HTTPResponse.Status {
        do {
            _ = try await server.access(for: .get(authorization: "Bearer \(token)"))
            return .ok
        } catch {
            return error.status
        }
    }

    // OpenID Connect Core §10.1.1: after a key rotation, one request fetches the new key and the token is accepted.
    @Test func `a token signed by a key newer than the cache is accepted after one request`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            let old = try authority.token()
            #expect(try await status(of: old, at: server) == .ok)
            try authority.rotate()
            #expect(try await status(of: try authority.token(), at: server) == .ok)
            #expect(authority.keyRequests == 2)
            // The withdrawn key is no longer accepted.
            #expect(try await status(of: old, at: server) == .unauthorized)
            #expect(authority.keyRequests == 2)
        }
    }

    @Test func `unknown keys cause at most one request in thirty seconds`() async throws {
        try await Authority.run { authority async throws in
            let clock = TestClock()
            let server = authority.resourceServer(clock: clock)
            for _ in 0..<20 {
                let stranger = try SigningKey.generate(.es256)
                #expect(try await status(of: try stranger.sign(authority.claims()), at: server) == .unauthorized)
            }
            #expect(authority.keyRequests == 2)

            let stranger = try SigningKey.generate(.es256).sign(authority.claims())
            clock.advance(by: 29)
            #expect(try await status(of: stranger, at: server) == .unauthorized)
            #expect(authority.keyRequests == 2)
            clock.advance(by: 1)
            #expect(try await status(of: stranger, at: server) == .unauthorized)
            #expect(authority.keyRequests == 3)
        }
    }

    // Failed requests count toward the limit. While a key cannot be fetched, the response is 503, not 401.
    @Test func `failed requests for unknown keys are limited too`() async throws {
        try await Authority.run { authority async throws in
            let clock = TestClock()
            let server = authority.resourceServer(clock: clock)
            let good = try authority.token()
            #expect(try await status(of: good, at: server) == .ok)
            authority.change { $0.status = .internalServerError }
            let stranger = try SigningKey.generate(.es256).sign(authority.claims())
            for _ in 0..<20 {
                #expect(try await status(of: stranger, at: server) == .serviceUnavailable)
            }
            #expect(authority.keyRequests == 2)
            #expect(try await status(of: good, at: server) == .ok)

            authority.change { $0.status = .ok }
            clock.advance(by: 30)
            #expect(try await status(of: stranger, at: server) == .unauthorized)
            #expect(authority.keyRequests == 3)
        }
    }

    @Test func `concurrent requests share one request for the keys`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            let token = try authority.token()
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask { try await status(of: token, at: server) }
                }
                for try await status in group {
                    #expect(status == .ok)
                }
            }
            #expect(authority.keyRequests == 1)
        }
    }

    // RFC 9111 §5.2.2.1: the stated lifetime applies within bounds.
    @Test(arguments: [
        (nil, 600.0), ("max-age=100", 100), ("public, MAX-AGE=\"120\"", 120), ("max-age=1", 60), ("no-store", 60),
        ("max-age=86400", 3600), ("max-age=-1", 600), ("max-age=99999999999999", 600),
    ])
    func `keys are renewed after their lifetime`(cacheControl: String?, lifetime: TimeInterval) async throws {
        try await Authority.run { authority async throws in
            authority.change { $0.headers[.cacheControl] = cacheControl }
            let clock = TestClock()
            let server = authority.resourceServer(clock: clock)
            let token = try authority.token()
            #expect(try await status(of: token, at: server) == .ok)
            clock.advance(by: lifetime - 1)
            #expect(try await status(of: token, at: server) == .ok)
            #expect(authority.keyRequests == 1)
            clock.advance(by: 1)
            #expect(try await status(of: token, at: server) == .ok)
            #expect(authority.keyRequests == 2)
        }
    }

    // Stale keys are used for one hour while the issuer fails, with one request every 30 seconds.
    @Test func `stale keys stay in use while the issuer fails`() async throws {
        try await Authority.run { authority async throws in
            let clock = TestClock()
            let server = authority.resourceServer(clock: clock)
            let token = try authority.token()
            #expect(try await status(of: token, at: server) == .ok)
            authority.change { $0.status = .badGateway }
            clock.advance(by: 600)
            for _ in 0..<5 {
                #expect(try await status(of: token, at: server) == .ok)
            }
            #expect(authority.keyRequests == 2)
            clock.advance(by: 30)
            #expect(try await status(of: token, at: server) == .ok)
            #expect(authority.keyRequests == 3)
        }
    }

    // Without keys, no token can be verified: the response is 503, never 401, after which a client would
    // discard its token.
    @Test func `an unavailable issuer finally causes 503 and never 401`() async throws {
        let clock = TestClock()
        let (server, token) = try await Authority.run { authority async throws in
            let server = authority.resourceServer(clock: clock)
            let token = try authority.token()
            #expect(try await status(of: token, at: server) == .ok)
            return (server, token)
        }
        clock.advance(by: 600 + 2800)
        #expect(try await status(of: token, at: server) == .ok)
        clock.advance(by: 800)
        let refusal = try await #require(throws: AccessRefusal.self) {
            try await server.access(for: .get(authorization: "Bearer \(token)"))
        }
        #expect(refusal.status == .serviceUnavailable)
        #expect(refusal.headerFields[.retryAfter] == "5")
        #expect(refusal.challenge == nil)
        #expect(refusal.error?.description?.contains("127.0.0.1") == false)
        #expect(refusal.reason.contains(server.issuer.rawValue))
    }

    @Test func `an API that starts before its issuer works as soon as the issuer does`() async throws {
        try await Authority.run { authority async throws in
            authority.change { $0.status = .serviceUnavailable }
            let clock = TestClock()
            let server = authority.resourceServer(clock: clock)
            let token = try authority.token()
            for _ in 0..<5 {
                #expect(try await status(of: token, at: server) == .serviceUnavailable)
            }
            #expect(authority.keyRequests == 1)
            authority.change { $0.status = .ok }
            clock.advance(by: 4)
            let refusal = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: .get(authorization: "Bearer \(token)"))
            }
            #expect(refusal.retryAfter == 1)
            clock.advance(by: 1)
            #expect(try await status(of: token, at: server) == .ok)
            #expect(authority.keyRequests == 2)
        }
    }
}
