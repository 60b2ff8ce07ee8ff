import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Claims that a request names individually (OpenID Connect Core §5.5).
struct ClaimsByNameTests {
    private static let name = #"{"userinfo":{"name":{"essential":true}}}"#
    private static let email = #"{"userinfo":{"email":null},"id_token":{"email":{"essential":true},"unheard_of":null}}"#

    // OpenID Connect Core §5.5: the module oidcc-claims-essential of the OpenID Foundation's suite.
    @Test func `a claim by name asks for its scope, and returns no other claim of it`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt(with: ["claims": Self.name])
        var (browser, reply) = try await attempt.afterSignIn()
        #expect(try reply.consentPage.permissions.map(\.scope) == ["openid", "profile"])
        reply = try await browser.decide(.allow, on: reply)
        let tokens = try await party.redeem(try reply.code, of: attempt).tokenResponse
        #expect(tokens.scope?.description == "openid")
        let user = try await party.user(tokens.accessToken)
        #expect(Set(user.keys) == ["sub", "name"])
        #expect(user["name"] as? String == "Alice")
        #expect(try party.claims(tokens)["name"] == nil)
    }

    @Test func `a claim by name is in the ID token if it was requested there`() async throws {
        let party = try await RelyingParty()
        let tokens = try await party.tokens(with: ["claims": Self.email])
        #expect(try party.claims(tokens)["email"] as? String == "alice@example.com")
        #expect(try party.claims(tokens)["email_verified"] == nil)
        #expect(try party.claims(tokens)["unheard_of"] == nil)
        #expect(try await party.user(tokens.accessToken)["email"] as? String == "alice@example.com")
    }

    @Test func `a refresh returns the claim by name again`() async throws {
        let party = try await RelyingParty()
        let tokens = try await party.tokens(for: "openid offline_access", with: ["claims": Self.email])
        let refresh = try #require(tokens.refreshToken)
        let answer = await party.test.redeem(
            FormParameters(["grant_type": "refresh_token", "refresh_token": refresh.exposed]),
            fields: [.authorization: party.basic])
        #expect(try party.claims(try answer.tokenResponse)["email"] as? String == "alice@example.com")
    }

    @Test func `a claim by name of a scope that becomes reserved is not returned any more`() async throws {
        let party = try await RelyingParty()
        let tokens = try await party.tokens(for: "openid offline_access", with: ["claims": Self.email])
        try await party.test.change(party.client) { $0.approval = .open }
        let former = try #require(try await party.test.store.scopes().first { $0.token == .email })
        var scope = former
        scope.isReserved = true
        #expect(try await party.test.store.updateScope(scope, from: former) == .updated)
        #expect(Set(try await party.user(tokens.accessToken).keys) == ["sub"])
        let refresh = try #require(tokens.refreshToken)
        let answer = await party.test.redeem(
            FormParameters(["grant_type": "refresh_token", "refresh_token": refresh.exposed]),
            fields: [.authorization: party.basic])
        #expect(try party.claims(try answer.tokenResponse)["email"] == nil)
    }

    @Test func `a claim of an unregistered scope is left out of consent and response`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: "openid").with("claims", Self.email)
        #expect(try await attempt.consentPage().permissions.map(\.scope) == ["openid"])
        let token = try await attempt.tokens().accessToken
        let reply = await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(token.exposed)"])
        #expect(try RelyingParty.members(of: reply)["email"] == nil)
    }

    @Test func `without openid no claim is requested`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: "photos.read").with("claims", Self.name)
        #expect(try await attempt.consentPage().permissions.map(\.scope) == ["photos.read"])
    }

    // OpenID Connect Core §5.5.1: an essential claim that the user does not allow is no error.
    @Test func `a claim by name that the user did not allow is not returned`() async throws {
        let party = try await RelyingParty()
        try await party.test.change(party.client) { $0.optionalScope = Scope([.profile]) }
        let attempt = party.attempt(with: ["claims": Self.name])
        var (browser, reply) = try await attempt.afterSignIn()
        #expect(try reply.consentPage.permissions.map(\.required) == [true, false])
        reply = try await browser.decide(.allow, on: reply, leavingOut: ["profile"])
        let tokens = try await party.redeem(try reply.code, of: attempt).tokenResponse
        #expect(Set(try await party.user(tokens.accessToken).keys) == ["sub"])
    }

    @Test func `an earlier consent covers a claim by name only where it was allowed`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &browser)
        let silent = party.attempt(with: ["claims": Self.name, "prompt": "none"])
        #expect(try await browser.open(silent.url).redirectedError.code == .consentRequired)
        let asked = try await browser.open(party.attempt(with: ["claims": Self.name]).url)
        #expect(try asked.consentPage.permissions.map(\.isNew) == [true])
        _ = try await browser.decide(.allow, on: asked).code
        let tokens = try await party.redeem(try await browser.open(silent.url).code, of: silent).tokenResponse
        #expect(try await party.user(tokens.accessToken)["name"] as? String == "Alice")
    }

    @Test func `a revoked claim by name is not returned any more`() async throws {
        let party = try await RelyingParty()
        let tokens = try await party.tokens(with: ["claims": Self.name])
        let consent = try #require(try await party.test.store.consent(of: party.test.alice.id, to: party.client.id))
        #expect(consent.scope == Scope([.openID, .profile]))
        #expect(
            try await party.test.store.narrowConsent(
                of: party.test.alice.id, to: party.client.id, keeping: Scope([.openID]), at: party.test.clock.now)
                == .narrowed)
        #expect(Set(try await party.user(tokens.accessToken).keys) == ["sub"])
    }

    @Test func `a form decides only about the claims that its page showed`() async throws {
        let party = try await RelyingParty()
        let plain = party.attempt()
        var (browser, reply) = try await plain.afterSignIn()
        let page = try reply.consentPage
        let wider = party.attempt(with: ["claims": Self.name])
        let form = page.form(.allow).setting("request", to: wider.request.encoded)
        reply = try await browser.submit(form, to: page.action)
        // Its anti-CSRF token belongs to another request.
        #expect(reply.status == .forbidden)
    }
}
