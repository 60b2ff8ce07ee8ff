import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Revocation of tokens at `/oauth2/revoke` (RFC 7009).
struct RevocationTests {
    private typealias Stayed = RefreshTokenGrantTests.Stayed

    private static func revoke(
        _ token: String, of stayed: Stayed, _ parameters: KeyValuePairs<String, String> = [:]
    ) async -> Reply {
        var form = FormParameters(["token": token, "client_id": stayed.client.id.rawValue])
        for (name, value) in parameters { form.append(name, value) }
        return await stayed.test.post(form, to: .revocation, fields: stayed.fields)
    }

    private static func grant(_ stayed: Stayed) async throws -> Grant {
        try await IssuedTokens(stayed.test).grant(of: stayed.tokens.accessToken)
    }

    // Either token revokes the whole grant, for public and confidential clients.
    @Test(arguments: [ClientType.native, .web], ["refresh_token", "access_token"])
    func `revoking a token revokes the whole grant`(type: ClientType, which: String)
        async throws
    {
        let stayed = try await Stayed(try await TestServer(), type: type)
        let token =
            which == "refresh_token"
            ? try #require(stayed.tokens.refreshToken).exposed : stayed.tokens.accessToken.exposed
        let reply = await Self.revoke(token, of: stayed)
        #expect(reply.status == .ok)
        guard case .none = reply.content else { return #expect(Bool(false), "the answer has no body") }
        #expect(reply.fields[.cacheControl] == "no-store")
        #expect(try await Self.grant(stayed).revokedAt == stayed.test.clock.now)
        #expect(try await stayed.refresh().tokenError.error == "invalid_grant")
        let events = try await stayed.test.store.audit(AuditQuery(kind: .revocation))
        #expect(events.map(\.event.detail) == ["application"])
        #expect(events.first?.event.userID == stayed.test.alice.id)
        // RFC 7009 §2.2: a revoked token gets the same response, and is not revoked a second time.
        #expect(await Self.revoke(token, of: stayed).status == .ok)
        #expect(try await stayed.test.store.audit(AuditQuery(kind: .revocation)).count == 1)
    }

    // A replaced token belongs to the same grant.
    @Test func `a replaced refresh token revokes its family too`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let first = try #require(stayed.tokens.refreshToken)
        let second = try #require(try await stayed.refresh().tokenResponse.refreshToken)
        let third = try #require(try await stayed.refresh(second).tokenResponse.refreshToken)
        #expect(await Self.revoke(first.exposed, of: stayed).status == .ok)
        #expect(try await stayed.refresh(third).tokenError.error == "invalid_grant")
        // The client asked for it, so it is no reuse.
        #expect(try await stayed.test.store.refreshStatistics(of: stayed.client.id).reuses == 0)
    }

    @Test func `an expired access token still revokes its grant`() async throws {
        let stayed = try await Stayed(try await TestServer())
        stayed.test.clock.advance(by: 7200)
        #expect(await Self.revoke(stayed.tokens.accessToken.exposed, of: stayed).status == .ok)
        #expect(try await stayed.refresh().tokenError.error == "invalid_grant")
    }

    // The request is refused, and the token stays valid.
    @Test func `a token of another client is refused and stays valid`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let test = stayed.test
        for token in [try #require(stayed.tokens.refreshToken).exposed, stayed.tokens.accessToken.exposed] {
            let form = FormParameters(["token": token, "client_id": test.lightbox.id.rawValue])
            let reply = await test.post(form, to: .revocation)
            #expect(reply.status == .badRequest)
            #expect(try reply.tokenError.error == "invalid_grant")
        }
        #expect(try await Self.grant(stayed).revokedAt == nil)
        #expect(try await stayed.refresh().status == .ok)
    }

    // An unknown token, in any form, gets the same response as a revoked one.
    @Test(arguments: [
        "unknown", "e30.e30.e30", "a.b.c", "' OR 1=1 --", "\u{0}", "é", String(repeating: "A", count: 91),
        String(repeating: "x", count: 20_000),
    ])
    func `an unknown token gets 200 without content`(token: String) async throws {
        let stayed = try await Stayed(try await TestServer())
        let reply = await Self.revoke(token, of: stayed)
        #expect(reply.status == .ok)
        guard case .none = reply.content else { return #expect(Bool(false), "the answer has no body") }
        #expect(try await stayed.refresh().status == .ok)
    }

    // A wrong or unknown hint changes nothing.
    @Test(arguments: ["access_token", "refresh_token", "id_token", "bogus", ""])
    func `the hint is ignored`(hint: String) async throws {
        let stayed = try await Stayed(try await TestServer())
        let token = try #require(stayed.tokens.refreshToken).exposed
        #expect(await Self.revoke(token, of: stayed, ["token_type_hint": hint]).status == .ok)
        #expect(try await Self.grant(stayed).revokedAt != nil)
    }

    // A token that cannot be revoked is reported; it belongs to no session.
    @Test func `a token of the client credentials grant cannot be revoked`() async throws {
        let test = try await TestServer()
        let service = try await test.addService()
        let token = try await service.token().accessToken.exposed
        let reply = await test.post(FormParameters(["token": token]), to: .revocation, fields: service.fields)
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "unsupported_token_type")
    }

    // An ID token is signed by the same keys, but is not a token to revoke.
    @Test func `an ID token revokes nothing`() async throws {
        let stayed = try await Stayed(try await TestServer())
        #expect(await Self.revoke(try #require(stayed.tokens.idToken).exposed, of: stayed).status == .ok)
        #expect(try await Self.grant(stayed).revokedAt == nil)
    }

    // Missing and repeated parameters are reported, and the URL is ignored.
    @Test func `an invalid request revokes nothing`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let token = try #require(stayed.tokens.refreshToken).exposed
        let id = stayed.client.id.rawValue
        for form in [
            FormParameters(["client_id": id]), FormParameters(["client_id": id, "token": ""]),
            FormParameters(["client_id": id, "token": token, "token": token]), FormParameters(["token": token]),
            FormParameters(["client_id": id, "client_id": id, "token": token]),
        ] {
            let reply = await stayed.test.post(form, to: .revocation)
            #expect(reply.status == .badRequest)
            #expect(try reply.tokenError.error == "invalid_request")
        }
        let query = FormParameters(["client_id": id, "token": token]).encoded
        #expect(await stayed.test.post(FormParameters(), to: .revocation, query: query).status == .badRequest)
        let json = await stayed.test.send(
            .post, to: .revocation, fields: [.contentType: "application/json"], body: Array(#"{"token":"x"}"#.utf8))
        #expect(json.status == .badRequest)
        #expect(try await Self.grant(stayed).revokedAt == nil)
    }

    // No GET, and no JSONP callback.
    @Test func `revocation by GET or with a callback is refused`() async throws {
        let stayed = try await Stayed(try await TestServer())
        let token = try #require(stayed.tokens.refreshToken).exposed
        let query = FormParameters([
            "client_id": stayed.client.id.rawValue, "token": token, "callback": "package.myCallback",
        ])
        let reply = await stayed.test.send(.get, to: .revocation, query: query.encoded)
        #expect(reply.status == .methodNotAllowed)
        #expect(reply.fields[.allow] == "POST")
        #expect(try await stayed.refresh().status == .ok)
        let posted = await Self.revoke("unknown", of: stayed, ["callback": "package.myCallback"])
        guard case .none = posted.content else { return #expect(Bool(false), "the answer has no body") }
    }

    // The same authentication as at the token endpoint.
    @Test func `a confidential client must authenticate`() async throws {
        let stayed = try await Stayed(try await TestServer(), type: .web)
        let token = try #require(stayed.tokens.refreshToken).exposed
        let form = FormParameters(["token": token, "client_id": stayed.client.id.rawValue])
        let nothing = await stayed.test.post(form, to: .revocation)
        #expect(nothing.status == .unauthorized)
        #expect(try nothing.tokenError.error == "invalid_client")
        let wrong = await stayed.test.post(
            form, to: .revocation, fields: .basic(stayed.client.id, ClientSecret()))
        #expect(wrong.status == .unauthorized)
        #expect(wrong.fields[.wwwAuthenticate]?.hasPrefix("Basic realm=") == true)
        let twice = await stayed.test.post(
            form.adding("client_secret", "x"), to: .revocation, fields: stayed.fields)
        #expect(try twice.tokenError.error == "invalid_request")
        #expect(try await Self.grant(stayed).revokedAt == nil)
        // The body may contain the same client_id as the Authorization field.
        #expect(await stayed.test.post(form, to: .revocation, fields: stayed.fields).status == .ok)
        #expect(try await Self.grant(stayed).revokedAt != nil)
    }

    // RFC 7009 §2.2.1: a server that cannot revoke now says so, and nothing is lost.
    @Test func `a store that is unavailable gives 503, and the next attempt revokes the token`() async throws {
        let store = TestStore()
        let stayed = try await Stayed(try await TestServer(store: store))
        let token = try #require(stayed.tokens.refreshToken).exposed
        store.fail(.revokeGrant)
        let reply = await Self.revoke(token, of: stayed)
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.fields[.retryAfter] != nil)
        store.recover()
        #expect(await Self.revoke(token, of: stayed).status == .ok)
        #expect(try await Self.grant(stayed).revokedAt != nil)
    }
}
