import CounterfoilProtocol
import CounterfoilResource
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// An API that introspects tokens (RFC 7662).
@Suite struct IntrospectionTests {
    private static let active = #"{"active":true,"scope":"photos.read photos.write"}"#

    /// An API with a token, and the introspection response for it.
    private struct Setting {
        let authority: Authority
        let clock = TestClock()
        let token: String
        let server: ResourceServer

        init(_ authority: Authority, secret: String = "s3cr:t", lifetime: Duration = .seconds(30)) throws {
            self.authority = authority
            token = try authority.token(scope: "photos.read photos.write")
            server = authority.resourceServer(
                clock: clock,
                introspection: TokenIntrospection(
                    clientID: try #require(ClientIdentifier("api_photos")),
                    clientSecret: try #require(ClientSecret(secret)), lifetime: lifetime))
            say(IntrospectionTests.active)
        }

        func say(_ answer: String) { authority.change { [token] in $0.introspectionResponses[token] = answer } }

        func access(requiring scope: Scope? = nil) async throws -> VerifiedAccess {
            try await server.access(
                for: .get(authorization: "Bearer \(token)"), requiring: try scope ?? Scope(parsing: "photos.read"))
        }

        func refusal() async throws -> AccessRefusal {
            try await #require(throws: AccessRefusal.self) { try await access() }
        }
    }

    // RFC 7662 §4
    @Test func `a revoked token is accepted until the cached response is stale, and no longer`() async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            for _ in 0..<3 { #expect(try await setting.access().subject == "anna") }
            #expect(authority.introspections.count == 1)
            setting.say(#"{"active":false}"#)
            setting.clock.advance(by: 29)
            _ = try await setting.access()
            setting.clock.advance(by: 1)
            let refusal = try await setting.refusal()
            #expect(refusal.status == .unauthorized)
            #expect(refusal.error?.code == .invalidToken)
            #expect(refusal.headerFields[.wwwAuthenticate]?.contains(#"error="invalid_token""#) == true)
            #expect(authority.introspections.count == 2)
        }
    }

    // RFC 6749 §2.3.1, RFC 7662 §2.1
    @Test func `the API authenticates, and the token is in the body`() async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            _ = try await setting.access()
            let question = try #require(authority.introspections.first)
            #expect(question.authorization == "Basic " + Data("api_photos:s3cr%3At".utf8).base64EncodedString())
            #expect(question.form == "token=\(setting.token)&token_type_hint=access_token")
        }
    }

    // RFC 7662 §4: with a lifetime of zero, every request is introspected.
    @Test func `an API without a cache asks each time`() async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority, lifetime: .zero)
            _ = try await setting.access()
            setting.say(#"{"active":false}"#)
            #expect(try await setting.refusal().status == .unauthorized)
        }
    }

    // RFC 7662 §2.2: a scope that the user revoked, or that the response omits, is not granted.
    @Test(arguments: [
        (#"{"active":true,"scope":"photos.read admin"}"#, ["photos.read"]), (#"{"active":true,"scope":""}"#, []),
        (#"{"active":true}"#, []),
    ])
    func `a token grants no more than the introspection response states`(answer: String, names: [String]) async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            setting.say(answer)
            let scope = Scope(names.compactMap(Scope.Token.init))
            #expect(try await setting.access(requiring: scope).scope == scope)
            let refusal = try await #require(throws: AccessRefusal.self) {
                try await setting.access(requiring: try Scope(parsing: "photos.write"))
            }
            #expect(refusal.status == .forbidden)
            #expect(refusal.error?.code == .insufficientScope)
        }
    }

    // A failed introspection says nothing about the token, so the client must not discard it.
    @Test(arguments: [
        (HTTPResponse.Status.unauthorized, #"{"error":"invalid_client"}"#, "the client_secret", 5.0),
        (.internalServerError, "", "responded with status 500", 1),
        (.tooManyRequests, "", "responded with status 429", 1),
        (.found, "", "redirects are not followed", 1), (.notFound, "", "responded with status 404", 1),
        (.ok, "nonsense", "not a valid introspection response", 1),
        (.ok, "{}", "not a valid introspection response", 1),
        (.ok, #"{"active":"true"}"#, "not a valid introspection response", 1),
    ])
    func `an invalid introspection response is not reported as a fault of the token`(
        status: HTTPResponse.Status, answer: String, reason: String, pause: TimeInterval
    ) async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority, secret: "the-secret")
            authority.change { $0.introspectionStatus = status }
            setting.say(answer)
            let refusal = try await setting.refusal()
            #expect(refusal.status == .serviceUnavailable)
            #expect(refusal.headerFields[.retryAfter] == "\(Int(pause))")
            #expect(refusal.headerFields[.wwwAuthenticate] == nil)
            #expect(refusal.reason.contains(reason))
            #expect(!refusal.reason.contains("the-secret") && !refusal.reason.contains(setting.token))
            // The API pauses before the next request, and then accepts the recovered server.
            authority.change { $0.introspectionStatus = .ok }
            setting.say(Self.active)
            setting.clock.advance(by: pause - 0.5)
            #expect(try await setting.refusal().status == .serviceUnavailable)
            #expect(authority.introspections.count == 1)
            setting.clock.advance(by: 0.5)
            _ = try await setting.access()
        }
    }

    // A cached response is used while the server is down, until its lifetime ends.
    @Test func `an unavailable server is an error once its cached responses are stale`() async throws {
        let setting = try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            _ = try await setting.access()
            return setting
        }
        setting.clock.advance(by: 29)
        _ = try await setting.access()
        setting.clock.advance(by: 1)
        let refusal = try await setting.refusal()
        #expect(refusal.status == .serviceUnavailable)
        #expect(refusal.reason.contains("cannot be reached"))
    }

    // Forged tokens cause no introspection requests.
    @Test func `only a token with a valid signature is introspected`() async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            let forged = try SigningKey.generate(.es256).sign(authority.claims())
            await #expect(throws: AccessRefusal.self) {
                try await setting.server.access(for: .get(authorization: "Bearer \(forged)"))
            }
            setting.clock.advance(by: 3631)
            #expect(try await setting.refusal().status == .unauthorized)
            #expect(authority.introspections.isEmpty)
        }
    }

    // RFC 7662 §4: the API does not flood its server with requests.
    @Test func `concurrent requests with one token cause one introspection request`() async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 { group.addTask { _ = try await setting.access() } }
                try await group.waitForAll()
            }
            #expect(authority.introspections.count == 1)
        }
    }

    // The lifetime of a response is measured with a monotonic clock.
    @Test(arguments: [300.0, -300, -20])
    func `a clock jump does not extend the cache`(jump: TimeInterval) async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            setting.clock.advance(by: 3000)
            _ = try await setting.access()
            setting.clock.advance(by: 29)
            setting.clock.jump(by: jump)
            setting.say(#"{"active":false}"#)
            _ = try await setting.access()
            setting.clock.advance(by: 1)
            #expect(try await setting.refusal().status == .unauthorized)
        }
    }

    // RFC 9110 §10.2.3: the API sends no request before the time in Retry-After.
    @Test func `a server that throttles gets no further requests`() async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            authority.change { state in
                state.introspectionStatus = .tooManyRequests
                state.introspectionHeaders[.retryAfter] = "20"
            }
            #expect(try await setting.refusal().headerFields[.retryAfter] == "20")
            setting.clock.advance(by: 19)
            #expect(try await setting.refusal().status == .serviceUnavailable)
            #expect(authority.introspections.count == 1)
            authority.change { $0.introspectionStatus = .ok }
            setting.clock.advance(by: 1)
            _ = try await setting.access()
            // One request for the keys, and one for the introspection endpoint.
            #expect(authority.metadataRequests == 2)
        }
    }

    // A failure that concerns one token does not affect other tokens.
    @Test func `an error for one token does not affect the others`() async throws {
        try await Authority.run { authority async throws in
            let setting = try Setting(authority)
            setting.say(#"{"active":true,"scope":"a\"b"}"#)
            #expect(try await setting.refusal().status == .serviceUnavailable)
            let other = try authority.token(subject: "bert")
            authority.change { $0.introspectionResponses[other] = Self.active }
            _ = try await setting.server.access(for: .get(authorization: "Bearer \(other)"))
        }
    }
}
