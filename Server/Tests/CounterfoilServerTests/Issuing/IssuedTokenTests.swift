import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

/// The claims of issued tokens.
struct IssuedTokenTests {
    // RFC 9068 §2
    @Test func `an access token is a signed at+jwt with every claim`() async throws {
        let test = try await TestServer()
        let tokens = try await Attempt(test, for: "openid photos.read").tokens()
        let parts = try IssuedTokens.parts(of: tokens.accessToken.exposed)
        #expect(parts.header["typ"] as? String == "at+jwt")
        #expect(parts.header["alg"] as? String == "ES256")
        #expect(parts.header["kid"] is String)
        let now = Int(test.clock.now.timeIntervalSince1970)
        #expect(parts.claims["iss"] as? String == "https://id.example.com")
        #expect(parts.claims["aud"] as? String == "https://id.example.com")
        #expect(parts.claims["sub"] as? String == test.alice.id.rawValue)
        #expect(parts.claims["client_id"] as? String == test.lightbox.id.rawValue)
        #expect(parts.claims["iat"] as? Int == now)
        #expect(parts.claims["exp"] as? Int == now + 3600)
        #expect(parts.claims["scope"] as? String == "openid photos.read")
        #expect(Base64URL.decode(parts.claims["jti"] as? String ?? "")?.count == 16)
        _ = try await IssuedTokens(test).verified(tokens.accessToken)
    }

    // Every token has a unique identifier.
    @Test func `no two tokens have the same identifier`() async throws {
        let test = try await TestServer()
        let issued = try await IssuedTokens(test)
        var identifiers: Set<String> = []
        for _ in 0..<20 {
            identifiers.insert(try issued.verified(try await Attempt(test).tokens().accessToken).tokenID)
        }
        #expect(identifiers.count == 20)
    }

    // The audience is the one that the operator configured.
    @Test func `the audience can be configured`() async throws {
        let test = try await TestServer { $0.defaultAudience = "https://api.example.com" }
        let tokens = try await Attempt(test).tokens()
        let access = try await IssuedTokens(test).verified(tokens.accessToken, audience: "https://api.example.com")
        #expect(access.audience == ["https://api.example.com"])
    }

    // An hour, unless the operator configures another lifetime.
    @Test func `the stated lifetime is the enforced one`() async throws {
        let test = try await TestServer { $0.accessTokenLifetime = 300 }
        let tokens = try await Attempt(test).tokens()
        #expect(tokens.expiresIn == 300)
        let access = try await IssuedTokens(test).verified(tokens.accessToken)
        #expect(access.expires == test.clock.now.addingTimeInterval(300))
    }

    // A lifetime that an administrator has set for a client, for each kind of token.
    @Test(arguments: [
        (nil, nil, 300, 900), (600, nil, 600, 900), (nil, 120, 300, 120), (86_400, 60, 86_400, 60),
    ])
    func `the lifetimes of a client override those of the server`(
        access: Int?, id: Int?, accessLifetime: Int, idLifetime: Int
    ) async throws {
        let test = try await TestServer {
            $0.accessTokenLifetime = 300
            $0.idTokenLifetime = 900
        }
        let policy = ClientPolicy(requiresState: false, accessTokenLifetime: access, idTokenLifetime: id)
        let client = try await test.register("Darkroom", under: policy)
        let tokens = try await Attempt(test, by: client, for: "openid").tokens()
        #expect(tokens.expiresIn == accessLifetime)
        let now = Int(test.clock.now.timeIntervalSince1970)
        let accessClaims = try IssuedTokens.parts(of: tokens.accessToken.exposed).claims
        #expect(accessClaims["exp"] as? Int == now + accessLifetime)
        let idClaims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
        #expect(idClaims["exp"] as? Int == now + idLifetime)
    }

    // RFC 6749 §5.1: the value is case-insensitive, and some clients compare it as text.
    @Test func `the owner can have token_type in lower case`() async throws {
        let test = try await TestServer { $0.lowercasesTokenType = true }
        #expect(try await Attempt(test).tokens().tokenType == "bearer")
        let bound = Attempt(test)
        let form = bound.exchange(try await bound.authorize().code)
        #expect(try await test.redeem(form, fields: try test.proving(TestProofKey())).tokenResponse.tokenType == "DPoP")
    }

    // Neither is accepted in place of the other.
    @Test func `an ID token is not an access token, and a client is not a user`() async throws {
        let test = try await TestServer()
        let tokens = try await Attempt(test, for: "openid").tokens()
        let issued = try await IssuedTokens(test)
        let identity = try #require(tokens.idToken)
        let idToken = try #require(AccessToken(identity.exposed))
        #expect(throws: TokenRefusal.self) { try issued.verified(idToken, audience: test.lightbox.id.rawValue) }
        #expect(test.alice.id.rawValue.hasPrefix("per_"))
        #expect(ClientIdentifier().rawValue.hasPrefix("app_"))
        #expect(UserIdentifier("app_lightbox") == nil)
    }

    // The ID token uses the algorithm of the client; RS256 is supported.
    @Test(arguments: [SigningAlgorithm.es256, .rs256])
    func `an ID token is signed with the algorithm of the client`(algorithm: SigningAlgorithm) async throws {
        let test = try await TestServer()
        let address = "https://app.example/cb"
        let client = try await test.register("Darkroom", redirectURIs: [address], idTokenAlgorithm: algorithm)
        let nonce = try #require(Nonce(String(repeating: "n-0S6_WzA2Mj", count: 8)))
        let attempt = Attempt(test, by: client, at: address, for: "openid").with("nonce", nonce.exposed)
        let tokens = try await attempt.tokens()
        let identity = try await IssuedTokens(test)
            .verified(tokens, for: client, nonce: nonce, maxAge: 60, algorithms: [algorithm])
        #expect(identity.subject == test.alice.id.rawValue)
        #expect(identity.audience == [client.id.rawValue])
        #expect(identity.authTime == test.clock.now)
        #expect(identity.expires == test.clock.now.addingTimeInterval(3600))
        let header = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).header
        #expect(header["alg"] as? String == algorithm.rawValue)
    }

    // Without a nonce there is no such claim.
    @Test func `without a nonce an ID token has none`() async throws {
        let test = try await TestServer()
        let tokens = try await Attempt(test, for: "openid").tokens()
        #expect(try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims["nonce"] == nil)
    }

    // An ID token is issued for openid only.
    @Test func `without openid there is no ID token`() async throws {
        #expect(try await Attempt(try await TestServer(), for: "profile photos.read").tokens().idToken == nil)
    }

    // The time of the sign-in, not of the token: a session that is used again keeps it.
    @Test func `the sign-in time is that of the session`() async throws {
        let test = try await TestServer()
        let signedInAt = test.clock.now
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        test.clock.advance(by: 1800)
        let attempt = Attempt(test, for: "openid")
        let tokens = try await test.redeem(attempt.exchange(try await attempt.authorize(with: &browser).code))
            .tokenResponse
        let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
        #expect(claims["auth_time"] as? Int == Int(signedInAt.timeIntervalSince1970))
    }
}
