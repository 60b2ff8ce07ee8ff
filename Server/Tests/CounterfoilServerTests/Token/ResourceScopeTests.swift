import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The scope of a token for an API: the scopes of that API and no others (RFC 8707 §2.2).
struct ResourceScopeTests {
    private static let read = "https://read.example.com"
    private static let write = "https://write.example.com"
    private static let server = "https://id.example.com"
    private static let everything = "openid offline_access profile photos.read photos.write"

    private let test: TestServer

    init() async throws {
        test = try await TestServer()
        _ = try await test.addAPI(Self.read, scope: "photos.read")
        _ = try await test.addAPI(Self.write, scope: "photos.write photos.delete")
    }

    /// A client with refresh tokens, and an optional scope for writing.
    private func attempt(for scope: String? = everything, at resources: [String]) async throws -> Attempt {
        let client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1/callback"], scope: Self.everything, optionalScope: "photos.write")
        var attempt = Attempt(test, by: client, for: scope)
        for resource in resources { attempt = attempt.adding("resource", resource) }
        return attempt
    }

    /// Checks the audience and scope of a token, and the scope that the response states, which can contain
    /// `offline_access` in addition.
    private func expect(
        _ tokens: TokenResponse, audience: [String], scope: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try tokens.expect(audience: audience, scope: scope, sourceLocation: sourceLocation)
        let stated = tokens.scope?.without(.offlineAccess).description
        #expect(stated == scope, sourceLocation: sourceLocation)
    }

    // Consent covers only what the tokens will contain; RFC 6749 §5.1: the response states the granted
    // scope.
    @Test func `a token for an API has the scopes of that API and no others`() async throws {
        let attempt = try await attempt(at: [Self.read])
        var (browser, reply) = try await attempt.afterSignIn()
        #expect(
            try reply.consentPage.permissions.map(\.scope) == ["openid", "offline_access", "profile", "photos.read"])
        reply = try await browser.decide(.allow, on: reply)
        let tokens = try await test.redeem(attempt.exchange(reply.code)).tokenResponse
        try expect(tokens, audience: [Self.read], scope: "photos.read")
        // OpenID Connect Core §3.1.3.3: the ID token is issued all the same.
        #expect(tokens.idToken != nil)
        #expect(tokens.refreshToken != nil)
        let again = try await attempt.refresh(tokens).tokenResponse
        try expect(again, audience: [Self.read], scope: "photos.read")
        #expect(again.idToken != nil)
    }

    @Test func `a token for several APIs has the scopes of all of them`() async throws {
        let attempt = try await attempt(at: [Self.read, Self.write])
        let tokens = try await attempt.tokens()
        try expect(tokens, audience: [Self.read, Self.write], scope: "photos.read photos.write")
        let narrower = try await attempt.refresh(tokens, ["resource": Self.write]).tokenResponse
        try expect(narrower, audience: [Self.write], scope: "photos.write")
        let both = try await attempt.refresh(narrower, ["resource": Self.read, "scope": "openid photos.read"])
        try expect(try both.tokenResponse, audience: [Self.read], scope: "photos.read")
    }

    // A failure consumes nothing.
    @Test func `a scope of another API is refused, and the refresh token stays valid`() async throws {
        let attempt = try await attempt(at: [Self.read, Self.write])
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form.adding("resource", Self.read)).tokenResponse
        try expect(tokens, audience: [Self.read], scope: "photos.read")
        let reply = try await attempt.refresh(tokens, ["resource": Self.read, "scope": "photos.write"])
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "invalid_scope")
        #expect(
            try reply.tokenError.errorDescription
                == "none of the requested scopes photos.write is registered for resource https://read.example.com")
        #expect(try await attempt.refresh(tokens).status == .ok)
    }

    // OpenID Connect Core §5.3: UserInfo is an API of the server itself, with a token of its own.
    @Test func `a token for an API is refused at UserInfo, and one for the server is accepted`() async throws {
        let attempt = try await attempt(at: [Self.read])
        let tokens = try await attempt.tokens()
        let refused = await test.userInfo(tokens)
        #expect(refused.status == .unauthorized)
        let challenge = try #require(refused.fields[.wwwAuthenticate])
        #expect(challenge.contains("request one for the resource https://id.example.com"))
        let own = try await attempt.refresh(tokens, ["resource": Self.server]).tokenResponse
        try expect(own, audience: [Self.server], scope: "openid profile")
        #expect(await test.userInfo(own).status == .ok)
        // A client that wants one token for both names both.
        let both = try await attempt.refresh(own, ["resource": Self.read, "scope": "openid photos.read"])
        try expect(try both.tokenResponse, audience: [Self.read], scope: "photos.read")
    }

    @Test func `a client that also names the server gets one token for both`() async throws {
        let tokens = try await attempt(at: [Self.read, Self.server]).tokens()
        try expect(tokens, audience: [Self.read, Self.server], scope: "openid profile photos.read")
        #expect(await test.userInfo(tokens).status == .ok)
    }

    // A client without `openid` gets no claims of the user.
    @Test func `without openid there is no token for the server`() async throws {
        let attempt = try await attempt(for: "photos.read", at: [Self.read])
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(try await test.redeem(form.adding("resource", Self.server)).tokenError.error == "invalid_target")
        #expect(try await self.attempt(for: "photos.read", at: [Self.server]).error().code == .invalidScope)
    }

    // A developer's mistake is reported before the user is asked.
    @Test(arguments: ["photos.write", "openid", "openid offline_access profile"])
    func `a scope without any part for the API is refused immediately`(scope: String) async throws {
        let error = try await attempt(for: scope, at: [Self.read]).error()
        #expect(error.code == .invalidScope)
        #expect(
            error.description
                == "no requested scope is registered for the resource https://read.example.com, which has: photos.read")
    }

    // RFC 6749 §3.3: an absent scope means all registered scopes of that API.
    @Test func `without a scope all scopes of the API are requested`() async throws {
        let tokens = try await attempt(for: nil, at: [Self.write]).tokens()
        try expect(tokens, audience: [Self.write], scope: "photos.write")
    }

    // Users grant scopes, so an API without any gets no tokens.
    @Test func `for an API without scopes the request is refused`() async throws {
        _ = try await test.addAPI("https://bare.example.com", scope: "")
        for scope in ["openid photos.read", nil] {
            let error = try await attempt(for: scope, at: ["https://bare.example.com"]).error()
            #expect(error.code == .invalidScope)
            #expect(error.description?.contains("no scopes are registered for the resource") == true)
        }
        let service = try await test.addService()
        let form = FormParameters(["grant_type": "client_credentials", "resource": "https://bare.example.com"])
        #expect(try await test.redeem(form, fields: service.fields).tokenError.error == "invalid_target")
    }

    // A user who leaves out all scopes of an API has only signed in.
    @Test func `if no scope of the API is left, the token is for the server itself`() async throws {
        let attempt = try await attempt(for: "openid photos.write", at: [Self.write])
        var (browser, reply) = try await attempt.afterSignIn()
        reply = try await browser.decide(.allow, on: reply, leavingOut: ["photos.write"])
        let form = attempt.exchange(try reply.code)
        #expect(try await test.redeem(form.adding("resource", Self.write)).tokenError.error == "invalid_scope")
        let tokens = try await test.redeem(form).tokenResponse
        try expect(tokens, audience: [Self.server], scope: "openid")
    }

    // The same after a later revocation, which signs no user out.
    @Test func `revoking all scopes of an API keeps the user signed in`() async throws {
        let attempt = try await attempt(at: [Self.read])
        let tokens = try await attempt.tokens()
        _ = try await test.store.narrowConsent(
            of: test.alice.id, to: attempt.client.id, keeping: try Scope(parsing: "openid offline_access"),
            at: test.clock.now)
        let refused = try await attempt.refresh(tokens, ["resource": Self.read])
        #expect(try refused.tokenError.error == "invalid_scope")
        let again = try await attempt.refresh(tokens).tokenResponse
        try expect(again, audience: [Self.server], scope: "openid")
        #expect(again.refreshToken != nil)
    }

    // A deleted API gets no tokens; one that was registered again gets its new scopes.
    @Test func `a refresh uses the current registration`() async throws {
        let attempt = try await attempt(for: "offline_access photos.read photos.write", at: [Self.read, Self.write])
        var tokens = try await attempt.tokens()
        try await test.store.removeResource(try Resource(Self.write))
        tokens = try await attempt.refresh(tokens).tokenResponse
        try expect(tokens, audience: [Self.read], scope: "photos.read")
        let named = try await attempt.refresh(tokens, ["resource": Self.write])
        #expect(try named.tokenError.error == "invalid_target")
        try await test.store.removeResource(try Resource(Self.read))
        #expect(try await attempt.refresh(tokens).tokenError.error == "invalid_target")
        _ = try await test.addAPI(Self.read, scope: "photos.write")
        tokens = try await attempt.refresh(tokens).tokenResponse
        try expect(tokens, audience: [Self.read], scope: "photos.write")
    }

    // The decision counts for the page that was shown.
    @Test func `an API that changed while the user decides is asked about again`() async throws {
        let attempt = try await attempt(for: "photos.read photos.write", at: [Self.read])
        var (browser, reply) = try await attempt.afterSignIn()
        try await test.store.removeResource(try Resource(Self.read))
        _ = try await test.addAPI(Self.read, scope: "photos.read photos.write")
        let answer = try await browser.decide(.allow, on: reply)
        #expect(answer.status != .ok || (try? answer.goOnPage) == nil)
        reply = try await browser.open(attempt.url)
        #expect(try reply.consentPage.permissions.map(\.scope) == ["photos.read", "photos.write"])
    }

    // A service gets a token for an API only if it is registered for a scope of it.
    @Test func `a service gets the scopes of the API that it names`() async throws {
        let service = try await test.addService(scope: "photos.read photos.write")
        try expect(
            try await service.token(["resource": Self.read]), audience: [Self.read], scope: "photos.read")
        try expect(
            try await service.token(["resource": Self.read, "scope": "photos.read photos.write"]),
            audience: [Self.read], scope: "photos.read")
        try expect(
            try await service.token(["resource": Self.read, "resource": Self.write]),
            audience: [Self.read, Self.write], scope: "photos.read photos.write")
        let foreign = FormParameters([
            "grant_type": "client_credentials", "resource": Self.read, "scope": "photos.write",
        ])
        #expect(try await test.redeem(foreign, fields: service.fields).tokenError.error == "invalid_scope")
        let reader = try await test.addService("Reader", scope: "photos.read")
        for resource in [Self.write, Self.server] {
            let form = FormParameters(["grant_type": "client_credentials", "resource": resource])
            #expect(try await test.redeem(form, fields: reader.fields).tokenError.error == "invalid_target")
        }
    }
}
