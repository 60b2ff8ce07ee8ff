import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// A token request that repeats the `scope` of its authorization request, as iTwin documents it.
struct RepeatedScopeTests {
    private static let address = "http://127.0.0.1:51004/callback"

    // RFC 6749 §5.1: the response states the granted scope.
    @Test(arguments: [(RefreshTokenPolicy.offlineAccess, ""), (.never, " offline_access")])
    func `a repeated scope gets the granted scope if the client has no refresh tokens`(
        refreshTokens: RefreshTokenPolicy, registered: String
    ) async throws {
        let test = try await TestServer()
        var policy = ClientPolicy.standard(for: .native)
        policy.refreshTokens = refreshTokens
        let client = try await test.register(
            "Viewer", redirectURIs: ["http://127.0.0.1/callback"], scope: "photos.read" + registered, policy: policy)
        let attempt = Attempt(test, by: client, for: "photos.read offline_access")
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form.adding("scope", "photos.read offline_access")).tokenResponse
        #expect(tokens.scope?.description == "photos.read")
        #expect(tokens.refreshToken == nil)
    }

    @Test func `a repeated scope gets no scope that the user left out`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Viewer", redirectURIs: ["http://127.0.0.1/callback"], scope: "photos.read photos.write",
            optionalScope: "photos.write")
        let attempt = Attempt(test, by: client, for: "photos.read photos.write")
        var (browser, page) = try await attempt.afterSignIn()
        let code = try await browser.decide(.allow, on: page, leavingOut: ["photos.write"]).code
        let repeated = attempt.exchange(code).adding("scope", "photos.write photos.read")
        let tokens = try await test.redeem(repeated).tokenResponse
        #expect(tokens.scope?.description == "photos.read")
        #expect(try await IssuedTokens(test).verified(tokens.accessToken).scope.description == "photos.read")
    }

    @Test func `a repeated scope gets the scope of the resource`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI("https://photos.example.com", scope: "photos.read")
        let attempt = Attempt(test, for: "photos.read photos.write").adding("resource", "https://photos.example.com")
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form.adding("scope", "photos.read photos.write")).tokenResponse
        #expect(tokens.scope?.description == "photos.read")
    }

    // A scope that was never requested is refused, and the code can still be redeemed.
    @Test func `a scope that was never requested is refused`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: "photos.read")
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(
            try await test.redeem(form.adding("scope", "photos.read photos.write")).tokenError.error == "invalid_scope")
        #expect(
            try await test.redeem(form.adding("scope", "photos.read")).tokenResponse.scope?.description == "photos.read"
        )
    }

    // RFC 6749 §3.3: a request without a scope asked for the default.
    @Test func `the scope of a request without one is the default`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: nil)
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(
            try await test.redeem(form.adding("scope", "photos.read offline_access")).tokenError.error
                == "invalid_scope")
        let tokens = try await test.redeem(form.adding("scope", "photos.read")).tokenResponse
        #expect(tokens.scope?.description == "photos.read photos.write")
    }

    // RFC 6749 §6: the scope of a refresh never exceeds the grant.
    @Test func `a refresh with more than the granted scope is refused`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Viewer", redirectURIs: ["http://127.0.0.1/callback"], scope: "photos.read photos.write offline_access",
            optionalScope: "photos.write")
        let attempt = Attempt(test, by: client, for: "photos.read photos.write offline_access")
        var (browser, page) = try await attempt.afterSignIn()
        let code = try await browser.decide(.allow, on: page, leavingOut: ["photos.write"]).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        let wider = refresh.adding("scope", "photos.read photos.write offline_access")
        #expect(try await test.redeem(wider).tokenError.error == "invalid_scope")
        #expect(try await test.redeem(refresh).tokenResponse.scope?.description == "photos.read offline_access")
    }
}
