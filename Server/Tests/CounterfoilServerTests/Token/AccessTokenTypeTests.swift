import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The type of access tokens, which an API chooses at its registration (RFC 9068 §2.1), and the separation from ID
/// tokens (RFC 9068 §5).
struct AccessTokenTypeTests {
    private static let api = "https://photos.example.com"
    private static let other = "https://albums.example.com"

    private static func type(_ tokens: TokenResponse) throws -> String? {
        try IssuedTokens.parts(of: tokens.accessToken.exposed).header["typ"] as? String
    }

    // MARK: - Types

    // RFC 9068 §2.1: `at+jwt` unless the API is registered with another type.
    @Test(arguments: [(AccessTokenType.atJWT, "at+jwt"), (.jwt, "JWT")])
    func `the tokens for an API have the type of its registration`(type: AccessTokenType, typ: String) async throws {
        let test = try await TestServer()
        _ = try await test.addAPI(Self.api, tokenType: type)
        let client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid offline_access photos.read")
        let attempt = Attempt(test, by: client, for: "openid offline_access photos.read").adding("resource", Self.api)
        let first = try await attempt.tokens()
        #expect(try Self.type(first) == typ)
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(first.refreshToken).exposed,
        ])
        #expect(try Self.type(try await test.redeem(refresh).tokenResponse) == typ)
        let service = try await test.addService()
        #expect(try Self.type(try await service.token(["resource": Self.api])) == typ)
    }

    // RFC 9068 §4: an API that follows the standard refuses every other type.
    @Test func `a token for several APIs has the type JWT only if all have it`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI(Self.api, scope: "photos.read", tokenType: .jwt)
        _ = try await test.addAPI(Self.other, scope: "photos.write")
        let both = Attempt(test, for: "photos.read photos.write")
            .adding("resource", Self.api).adding("resource", Self.other)
        #expect(try Self.type(try await both.tokens()) == "at+jwt")
        let former = try #require(try await test.store.resource(try Resource(Self.other)))
        var changed = former
        changed.tokenType = .jwt
        #expect(try await test.store.updateResource(changed, from: former) == .updated)
        #expect(try Self.type(try await both.tokens()) == "JWT")
        let withServer = Attempt(test, for: "openid photos.read")
            .adding("resource", Self.api).adding("resource", "https://id.example.com")
        // The server itself accepts both types.
        #expect(try Self.type(try await withServer.tokens()) == "JWT")
    }

    // A single API is registered with the default audience, and its clients name no resource.
    @Test(arguments: [nil, "https://photos.example.com"])
    func `an API with the default audience sets the type of tokens that name no API`(audience: String?) async throws {
        let test = try await TestServer { if let audience { $0.defaultAudience = audience } }
        let api = try await test.addAPI(audience ?? "https://id.example.com", tokenType: .jwt)
        let tokens = try await Attempt(test, for: "openid photos.read").tokens()
        #expect(try Self.type(tokens) == "JWT")
        #expect(try await api.sees(tokens.accessToken.exposed))
        #expect(await Self.userInfo(tokens.accessToken.exposed, test).status == .ok)
        #expect(try Self.type(try await test.addService().token()) == "JWT")
    }

    // A resource server finds the type out by itself.
    @Test func `a change of the type applies to the next token`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI(Self.api)
        let attempt = Attempt(test).adding("resource", Self.api)
        let before = try await attempt.tokens()
        var changed = api.resource
        changed.tokenType = .jwt
        #expect(try await test.store.updateResource(changed, from: api.resource) == .updated)
        let after = try await attempt.tokens()
        #expect(try [Self.type(before), Self.type(after)] == ["at+jwt", "JWT"])
        for tokens in [before, after] { #expect(try await api.sees(tokens.accessToken.exposed)) }
    }

    // MARK: - Separation

    private static func userInfo(_ token: String, _ test: TestServer) async -> Reply {
        await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(token)"])
    }

    /// An access token of the type `JWT` and the ID token of the same response.
    private struct Pair {
        let test: TestServer
        let api: TestAPI
        let client: RegisteredClient
        let accessToken: String
        let idToken: String

        /// Signs both with the same key: the client has ES256.
        init() async throws {
            test = try await TestServer()
            api = try await test.addAPI(AccessTokenTypeTests.api, tokenType: .jwt)
            client = try await test.register(
                "Web", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid profile photos.read")
            let tokens = try await Attempt(test, by: client, for: "openid profile photos.read")
                .adding("resource", AccessTokenTypeTests.api).tokens()
            accessToken = tokens.accessToken.exposed
            idToken = try #require(tokens.idToken).exposed
            let headers = try [accessToken, idToken].map { try IssuedTokens.parts(of: $0).header }
            #expect(headers.map { $0["typ"] as? String } == ["JWT", "JWT"])
            #expect(headers[0]["kid"] as? String == headers[1]["kid"] as? String)
        }
    }

    // RFC 9068 §5: in one direction.
    @Test func `an ID token is refused wherever an access token is expected`() async throws {
        let pair = try await Pair()
        #expect(try await pair.api.sees(pair.accessToken))
        #expect(try await pair.api.sees(pair.idToken) == false)
        #expect(await Self.userInfo(pair.idToken, pair.test).status == .unauthorized)
        let keys = try await IssuedTokens(pair.test).keys
        for audience in [Self.api, pair.client.id.rawValue] {
            let verifier = AccessTokenVerifier(issuer: pair.test.issuer, audience: audience, type: .jwt)
            #expect(throws: TokenRefusal.wrongType) {
                try verifier.verify(pair.idToken, keys: keys, at: pair.test.clock.now)
            }
        }
        // RFC 7009 §2.2: an unknown token is no error, and revokes nothing.
        let form = FormParameters(["token": pair.idToken, "client_id": pair.client.id.rawValue])
        #expect(await pair.test.post(form, to: .revocation).status == .ok)
        #expect(try await pair.api.sees(pair.accessToken))
        let revoked = FormParameters(["token": pair.accessToken, "client_id": pair.client.id.rawValue])
        #expect(await pair.test.post(revoked, to: .revocation).status == .ok)
        #expect(try await pair.api.sees(pair.accessToken) == false)
    }

    // RFC 9068 §5: in the other direction.
    @Test func `an access token of the type JWT is refused wherever an ID token is expected`() async throws {
        let pair = try await Pair()
        let hint = Attempt(pair.test, by: pair.client, for: "openid").with("id_token_hint", pair.accessToken)
        #expect(try await hint.error().code == .invalidRequest)
        let keys = try await IssuedTokens(pair.test).keys
        let token = try #require(IDToken(pair.accessToken))
        for clientID in [pair.client.id, try #require(ClientIdentifier(Self.api))] {
            let verifier = IDTokenVerifier(issuer: pair.test.issuer, clientID: clientID)
            #expect(throws: TokenRefusal.wrongType) {
                try verifier.verifyDirect(token, keys: keys, accessToken: nil, at: pair.test.clock.now)
            }
        }
        // OpenID Connect RP-Initiated Logout §2: the page asks, as it does without a hint.
        var browser = pair.test.browser()
        _ = try await Attempt(pair.test, by: pair.client, for: "openid").authorize(with: &browser)
        let logout = "/oauth2/logout?" + FormParameters(["id_token_hint": pair.accessToken]).encoded
        let reply = try await browser.open(logout)
        #expect(reply.cookies.isEmpty)
        #expect(try await browser.open("/account").accountPage.console.userDisplayName == "Alice")
    }

    // The rule rests on these claims: no ID token of this server lacks `at_hash`, and no access token has a nonce.
    @Test func `the claims of issued tokens tell the two kinds apart`() async throws {
        let pair = try await Pair()
        let access = try IssuedTokens.parts(of: pair.accessToken).claims.keys
        let id = try IssuedTokens.parts(of: pair.idToken).claims.keys
        #expect(Set(access).isSuperset(of: ["client_id", "jti", "scope"]))
        #expect(Set(access).isDisjoint(with: ["nonce", "at_hash", "c_hash"]))
        #expect(id.contains("at_hash"))
        #expect(Set(id).isDisjoint(with: ["client_id", "jti", "scope"]))
    }
}
