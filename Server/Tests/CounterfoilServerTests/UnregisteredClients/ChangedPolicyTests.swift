import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

/// Changes of the policy for unregistered clients, which apply to earlier grants from the next request.
struct ChangedPolicyTests {
    @Test func `the lifetime of access tokens follows the policy`() async throws {
        let world = try await DocumentWorld()
        var tokens = try await world.tokens()
        let usual = try #require(tokens.expiresIn)
        for (lifetime, expected) in [(90, 90), (nil, usual)] as [(Int?, Int)] {
            try await world.setPolicy { $0.accessTokenLifetime = lifetime }
            tokens = try await world.test.redeem(world.refresh(tokens)).tokenResponse
            #expect(tokens.expiresIn == expected)
        }
    }

    @Test func `a scope that the policy no longer contains is not refreshed`() async throws {
        let world = try await DocumentWorld()
        let tokens = try await world.tokens()
        #expect(tokens.scope?.description.contains("photos.read") == true)
        let openID = try Scope(parsing: "openid offline_access")
        try await world.setPolicy { $0.maximumScope = openID }
        let narrowed = try await world.test.redeem(world.refresh(tokens)).tokenResponse
        #expect(narrowed.scope?.isSubset(of: openID) == true)
        let claims = try IssuedTokens.parts(of: narrowed.accessToken.exposed).claims
        #expect((claims["scope"] as? String)?.contains("photos.read") != true)
    }

    // RFC 8707 §2
    @Test func `an API that the policy no longer contains is an invalid target of a refresh`() async throws {
        let world = try await DocumentWorld()
        _ = try await world.test.addAPI()
        let attempt = try world.attempt(for: "photos.read offline_access").with(
            "resource", "https://photos.example.com")
        let tokens = try await attempt.tokens()
        try await world.setPolicy { $0.resources = [] }
        #expect(try await world.test.redeem(world.refresh(tokens)).tokenError.error == "invalid_target")
        try await world.setPolicy { $0.resources = nil }
        _ = try await world.test.redeem(world.refresh(tokens)).tokenResponse
    }

    // RFC 7591 §2
    @Test func `a client that does not declare refresh tokens gets none`() async throws {
        let world = try await DocumentWorld()
        world.publish(["grant_types": #"["authorization_code"]"#])
        let attempt = try world.attempt(for: "photos.read offline_access")
        let tokens = try await attempt.tokens()
        #expect(tokens.refreshToken == nil)
        #expect(tokens.scope?.contains(.offlineAccess) != true)
    }
}
