import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// The scope `offline_access` and `prompt=consent` without `openid`, as MCP clients send them.
struct OfflineAccessTests {
    private static let api = "https://photos.example.com"
    private static let scope = "photos.read offline_access"

    private let test: TestServer
    private let attempt: Attempt

    init() async throws {
        test = try await TestServer()
        _ = try await test.addAPI(Self.api)
        let client = try await test.register(
            "Agent", redirectURIs: ["http://localhost/callback"], scope: Self.scope)
        attempt = Attempt(test, by: client, at: "http://localhost:51004/callback", for: Self.scope)
            .with("prompt", "consent").adding("resource", Self.api)
    }

    /// Expects a refresh token and no ID token, and refreshes with `resource` and without `scope`.
    private func expectOffline(_ tokens: TokenResponse, of client: ClientIdentifier) async throws {
        #expect(tokens.idToken == nil)
        // RFC 6749 §5.1: the token for the API has one scope, and the response states both that were granted.
        let claims = try IssuedTokens.parts(of: tokens.accessToken.exposed).claims
        #expect(claims["scope"] as? String == "photos.read")
        #expect(tokens.scope?.description == Self.scope)
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.rawValue, "resource": Self.api + "/",
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        let next = try await test.redeem(refresh).tokenResponse
        #expect(next.scope?.description == Self.scope)
        #expect(next.refreshToken != nil && next.refreshToken != tokens.refreshToken)
    }

    @Test func `a client without openid gets a refresh token with offline_access`() async throws {
        let (_, reply) = try await attempt.afterSignIn()
        #expect(try reply.consentPage.permissions.map(\.scope) == ["photos.read", "offline_access"])
        try await expectOffline(try await attempt.tokens(), of: attempt.client.id)
    }

    @Test func `so does a client that pushes its request`() async throws {
        let code = try await PushedAttempt(attempt).authorize().code
        try await expectOffline(try await test.redeem(attempt.exchange(code)).tokenResponse, of: attempt.client.id)
    }

    @Test func `so does a device`() async throws {
        let device = try await TestDevice(test, scope: Self.scope)
        let codes = try await device.codes(["scope": "photos.read offline_access", "resource": Self.api])
        var browser = test.browser()
        _ = try await browser.answer(codes)
        try await expectOffline(try await device.poll(codes).tokenResponse, of: device.client.id)
    }

    // OpenID Connect Core §11: the scope is ignored, and the rest of the request is answered.
    @Test func `a client that is not assigned offline_access gets no refresh token`() async throws {
        try await test.change(attempt.client) { $0.scope = $0.scope.without(.offlineAccess) }
        let tokens = try await attempt.tokens()
        #expect(tokens.refreshToken == nil)
        #expect(tokens.scope?.description == "photos.read")
    }
}
