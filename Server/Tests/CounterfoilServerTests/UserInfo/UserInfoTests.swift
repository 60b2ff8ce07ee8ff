import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

struct UserInfoTests {
    /// Returns the `WWW-Authenticate` challenge of a response (RFC 6750 §3).
    private static func challenge(_ reply: Reply) throws -> String { try #require(reply.fields[.wwwAuthenticate]) }

    // RFC 6750 §3.1
    @Test func `a token without openid is insufficient`() async throws {
        let test = try await TestServer()
        let token = try await Attempt(test, for: "photos.read").tokens().accessToken
        let reply = await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(token.exposed)"])
        #expect(reply.status == .forbidden)
        #expect(try Self.challenge(reply).contains(#"error="insufficient_scope""#))
        #expect(try Self.challenge(reply).contains(#"scope="openid""#))
    }

    @Test func `an expired token is refused`() async throws {
        let party = try await RelyingParty()
        let token = try await party.tokens().accessToken
        party.test.clock.advance(by: 3600 + 31)
        let reply = await party.userInfo(token)
        #expect(reply.status == .unauthorized)
        #expect(try Self.challenge(reply).contains(#"error="invalid_token""#))
    }

    // An ID token is not an access token; a token of another audience or issuer is refused.
    @Test func `a token of another kind or audience is refused`() async throws {
        let party = try await RelyingParty()
        let tokens = try await party.tokens()
        let text = try #require(tokens.idToken).exposed
        let idToken = try #require(AccessToken(text))
        let now = party.test.clock.now
        let claims = AccessTokenClaims(
            issuer: party.test.issuer, subject: party.test.alice.id.rawValue, audience: [party.test.issuer.rawValue],
            clientID: party.client.id, expires: now + 60, issuedAt: now, tokenID: "t",
            scope: try Scope(parsing: "openid"))
        let forged = try #require(AccessToken(try SigningKey.generate(.es256).sign(claims)))
        for token in [idToken, forged] { #expect(await party.userInfo(token).status == .unauthorized) }
    }

    // RFC 6750 §2.3: a token in the query is always ignored.
    @Test func `a token in the query is ignored`() async throws {
        let party = try await RelyingParty()
        let token = try await party.tokens().accessToken
        let reply = await party.test.send(
            .get, to: .userInfo, query: FormParameters(["access_token": token.exposed]).encoded)
        #expect(reply.status == .unauthorized)
        #expect(try !Self.challenge(reply).contains("error"))
    }

    // RFC 6750 §2
    @Test func `a token in the header and in the body is refused`() async throws {
        let party = try await RelyingParty()
        let token = try await party.tokens().accessToken
        let reply = await party.test.send(
            .post, to: .userInfo,
            fields: [
                .authorization: "Bearer \(token.exposed)", .contentType: "application/x-www-form-urlencoded",
            ],
            body: Array(FormParameters(["access_token": token.exposed]).encoded.utf8))
        #expect(reply.status == .badRequest)
        #expect(try Self.challenge(reply).contains(#"error="invalid_request""#))
    }

    // A malformed header is a bad request; another scheme is no token.
    @Test(arguments: [
        ("Bearer", HTTPResponse.Status.badRequest), ("Bearer a b", .badRequest), ("Basic YTpi", .unauthorized),
        ("bearer x", .unauthorized), ("Bearer  x", .unauthorized), ("Bearer\tx", .badRequest),
    ])
    func `the Authorization header is parsed strictly`(field: String, status: HTTPResponse.Status) async throws {
        let test = try await TestServer()
        #expect(await test.send(.get, to: .userInfo, fields: [.authorization: field]).status == status)
    }

    // After the user revokes a scope, the same token returns no claims of it.
    @Test func `a revoked grant returns no claims`() async throws {
        let party = try await RelyingParty()
        let token = try await party.tokens(for: "openid email").accessToken
        let grant = try await IssuedTokens(party.test).grant(of: token)
        _ = try await party.test.store.revokeGrant(grant.id, because: .user, at: party.test.clock.now)
        #expect(await party.userInfo(token).status == .unauthorized)
    }

    @Test func `a disabled account returns no claims`() async throws {
        let party = try await RelyingParty()
        let token = try await party.tokens().accessToken
        let outcome = try await party.test.store.disableUser(
            party.test.alice.id, at: party.test.clock.now, recording: [])
        #expect(outcome == .changed)
        #expect(await party.userInfo(token).status == .unauthorized)
    }

    // A token for the configured default audience is accepted too.
    @Test func `the configured default audience is accepted`() async throws {
        let party = try await RelyingParty { $0.defaultAudience = "https://api.example.com" }
        #expect(await party.userInfo(try await party.tokens().accessToken).status == .ok)
    }

    @Test func `an unavailable store is reported`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let token = try await Attempt(test, for: "openid").tokens().accessToken
        store.fail(.grantFacts)
        let reply = await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(token.exposed)"])
        #expect(reply.status == .serviceUnavailable)
    }
}
