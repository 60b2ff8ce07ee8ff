import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The claims of the scopes `profile` and `email` in ID tokens (OpenID Connect Core §5.4), by the policy of the client.
struct UserClaimsInIDTokenTests {
    private static let address = "https://app.example.com/cb"

    private static func claims(
        _ test: TestServer, _ client: RegisteredClient, for scope: String, secret: ClientSecret? = nil
    ) async throws -> [String: Any] {
        let attempt = Attempt(test, by: client, at: address, for: scope)
        let form = attempt.exchange(try await attempt.authorize().code)
        var fields: HTTPFields = [:]
        if let secret {
            let credentials = Data("\(client.id.rawValue):\(secret.exposed)".utf8).base64EncodedString()
            fields[.authorization] = "Basic \(credentials)"
        }
        let reply = await test.redeem(form, fields: fields)
        return try IssuedTokens.parts(of: try #require(try reply.tokenResponse.idToken).exposed).claims
    }

    @Test(arguments: [(ClientType.native, true), (.web, true), (.singlePage, false)])
    func `the default follows the type of the client`(type: ClientType, expected: Bool) async throws {
        let test = try await TestServer()
        let secret = type.isConfidential ? ClientSecret() : nil
        let client = try await test.register(
            "Gallery", type: type, at: [Self.address], for: "openid profile email photos.read",
            under: .standard(for: type), secret: secret)
        let claims = try await Self.claims(test, client, for: "openid profile email", secret: secret)
        #expect((claims["name"] as? String == "Alice") == expected)
        #expect((claims["email"] as? String == "alice@example.com") == expected)
        #expect((claims["email_verified"] != nil) == expected)
    }

    // The device grant is not there yet; its clients get the setting all the same.
    @Test func `clients of the type device get the claims by default`() {
        #expect(ClientPolicy.standard(for: .device).putsUserClaimsInIDToken)
        #expect(!ClientPolicy.standard(for: .service).putsUserClaimsInIDToken)
    }

    @Test func `only the claims of granted scopes are in the ID token`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Gallery", at: [Self.address], for: "openid profile email address phone",
            under: .standard(for: .native))
        let profile = try await Self.claims(test, client, for: "openid profile")
        #expect(profile["name"] as? String == "Alice" && profile["email"] == nil)
        let email = try await Self.claims(test, client, for: "openid email")
        #expect(email["email"] as? String == "alice@example.com" && email["name"] == nil)
        let none = try await Self.claims(test, client, for: "openid")
        #expect(none["email"] == nil && none["name"] == nil)
        let others = try await Self.claims(test, client, for: "openid address phone")
        #expect(others["address"] == nil && others["phone_number"] == nil)
    }

    // OpenID Connect Core §12.2: the ID token of a refresh has them too.
    @Test func `a refreshed ID token has the claims of the refreshed scope`() async throws {
        let test = try await TestServer()
        var policy = ClientPolicy.standard(for: .native)
        policy.refreshTokens = .always
        let client = try await test.register(
            "Gallery", at: [Self.address], for: "openid profile email", under: policy)
        let tokens = try await Attempt(test, by: client, at: Self.address, for: "openid profile email").tokens()
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(tokens.refreshToken).exposed, "scope": "openid email",
        ])
        let refreshed = try await test.redeem(refresh).tokenResponse
        let claims = try IssuedTokens.parts(of: try #require(refreshed.idToken).exposed).claims
        #expect(claims["email"] as? String == "alice@example.com")
        #expect(claims["name"] == nil)
    }

    // Web frameworks accept only RS256 unless configured otherwise.
    @Test(arguments: [(ClientType.native, "ES256"), (.web, "RS256"), (.singlePage, "ES256"), (.device, "ES256")])
    func `the algorithm follows the type of the client`(type: ClientType, algorithm: String) {
        #expect(ClientPolicy.standard(for: type).idTokenAlgorithm.rawValue == algorithm)
    }
}
