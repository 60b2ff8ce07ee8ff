import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The refresh statistics on the page of a client.
struct RefreshHappeningTests {
    private static let scope = "openid photos.read offline_access"

    private static func registered(by owner: inout Developer) async throws -> RegisteredClient {
        try await owner.registered(
            Developer.form(
                redirectURIs: "http://127.0.0.1/callback", scopes: scope.split(separator: " ").map(String.init)))
    }

    /// Signs alice in; returns her first refresh token.
    private static func signIn(_ test: TestServer, to client: RegisteredClient) async throws -> RefreshToken? {
        try await Attempt(test, by: client, for: scope).tokens().refreshToken
    }

    private static func refresh(
        _ token: RefreshToken?, of client: RegisteredClient, at test: TestServer
    ) async throws -> Reply {
        await test.redeem(
            FormParameters([
                "grant_type": "refresh_token", "client_id": client.id.rawValue,
                "refresh_token": try #require(token).exposed,
            ]))
    }

    // Real refreshes with lost responses, a copied token, and a revoked one.
    @Test func `the page of a client counts lost responses, reuse and revocations`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await Self.registered(by: &owner)
        let quiet = try await owner.browser.open("/apps/\(client.id)").clientPage.refreshes
        #expect(quiet.map(\.count) == ["none so far", "none so far", "none so far"])

        // A phone that loses two responses, and continues.
        let phone = try await Self.signIn(test, to: client)
        let successor = try await Self.refresh(phone, of: client, at: test).tokenResponse.refreshToken
        for _ in 0..<2 { _ = try await Self.refresh(phone, of: client, at: test).tokenResponse }
        _ = try await Self.refresh(successor, of: client, at: test).tokenResponse
        let lost = try await owner.browser.open("/apps/\(client.id)").clientPage.refreshes
        #expect(lost.map(\.count) == ["2 retries", "none so far", "none so far"])

        // An attacker has kept the first token.
        #expect(try await Self.refresh(phone, of: client, at: test).status == .badRequest)
        // Another device, which revokes its grant.
        let other = try #require(try await Self.signIn(test, to: client))
        let revoked = await test.post(
            FormParameters(["token": other.exposed, "client_id": client.id.rawValue]), to: .revocation)
        #expect(revoked.status == .ok)
        let reply = try await owner.browser.open("/apps/\(client.id)")
        let page = try reply.clientPage
        let day = Localizer.english.date(test.clock.now)
        #expect(page.refreshes.map(\.count) == ["2 retries", "once, on \(day)", "2 revocations"])
        let html = try reply.html()
        for words in [
            "Retried refreshes", "Nobody was signed out.", "Reuse means that a refresh token was used again after",
        ] { #expect(html.contains(words), "\(words)") }
        // The same numbers as the metrics.
        let all = try #require(await test.server.refreshStatistics())
        #expect(all.repeats == 2 && all.reuses == 1 && all.revocations == 2)
    }

    // Counters that stay zero are not shown.
    @Test func `a client without refresh tokens has no counters`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        let reply = try await owner.browser.open("/apps/\(client.id)")
        #expect(try reply.clientPage.refreshes.isEmpty)
        #expect(try !reply.html().contains("Staying signed in"))

        // The counters stay visible after refresh tokens have been switched off.
        let stayed = try await Self.registered(by: &owner)
        let token = try await Self.signIn(test, to: stayed)
        for _ in 0..<2 { _ = try await Self.refresh(token, of: stayed, at: test).tokenResponse }
        try await test.change(stayed) { $0.policy.refreshTokens = .never }
        let page = try await owner.browser.open("/apps/\(stayed.id)").clientPage
        #expect(page.refreshes.first?.count == "one retry")
    }
}
