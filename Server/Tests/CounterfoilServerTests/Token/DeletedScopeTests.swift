import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

/// A scope that an administrator deletes while users have allowed it.
struct DeletedScopeTests {
    @Test func `no code, device code or refresh carries a scope after its deletion, even if the name exists again`()
        async throws
    {
        let test = try await TestServer()
        let scope = "openid offline_access photos.read"
        let client = try await test.register("Offline", redirectURIs: ["http://127.0.0.1/callback"], scope: scope)
        let tokens = try await Attempt(test, by: client, for: scope).tokens()
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        let attempt = Attempt(test, by: client, for: scope)
        let redemption = attempt.exchange(try await attempt.authorize().code)
        let device = try await TestDevice(test)
        let codes = try await device.codes()
        var browser = test.browser()
        #expect(try await browser.answer(codes).deviceDonePage.kind == .approved)

        let token = try #require(Scope.Token("photos.read"))
        _ = try await test.store.removeScope(token, takingFromUses: true, at: test.clock.now)
        for isBack in [false, true] {
            if isBack {
                let definition = ScopeDefinition(token: token, description: "See your photos")
                #expect(try await test.store.addScope(definition) == .added)
            }
            #expect(try await test.redeem(redemption).tokenError.error == "invalid_grant")
            #expect(try await device.poll(codes).tokenError.error == "invalid_grant")
            let refreshed = try await test.redeem(refresh).tokenResponse
            let grant = try await IssuedTokens(test).grant(of: refreshed.accessToken)
            #expect(grant.scope.contains(.openID) && !grant.scope.contains(token))
            #expect(refreshed.scope?.contains(token) != true)
        }
    }
}
