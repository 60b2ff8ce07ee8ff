import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The parameters that OpenID Connect adds to an authorization request.
struct OpenIDParameterTests {
    // OAuth 2.0 Form Post Response Mode §2
    @Test func `a code can be returned in a form`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt(with: ["response_mode": "form_post"])
        let page = try await attempt.authorize().goOnPage
        #expect(page.destination == RelyingParty.callback)
        #expect(Set(page.fields.map(\.name)) == ["code", "state", "iss"])
        #expect(page.host == nil)
        let code = try #require(page.fields.first { $0.name == "code" }.flatMap { AuthorizationCode($0.value) })
        #expect(try await party.redeem(code, of: attempt).tokenResponse.idToken != nil)
    }

    // Also without a page, and for errors.
    @Test func `a response without a page can be a form as well`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &browser)
        let silent = try await browser.open(
            party.attempt(with: ["response_mode": "form_post", "prompt": "none"]).url)
        #expect(try silent.goOnPage.fields.contains { $0.name == "code" })
        let refused = try await party.attempt(with: ["response_mode": "form_post", "prompt": "none"]).firstReply()
        let page = try refused.goOnPage
        #expect(page.kind == .refused)
        #expect(page.fields.contains { $0.name == "error" && $0.value == "login_required" })
        let wrong = party.attempt(with: ["response_mode": "form_post", "scope": "openid nothing"])
        let fields = try await wrong.firstReply().goOnPage.fields
        #expect(fields.contains { $0.name == "error" && $0.value == "invalid_scope" })
    }

    // A form cannot be posted to a private-use scheme, so the error is in the query.
    @Test func `a private-use scheme gets no form`() async throws {
        let test = try await TestServer()
        let client = try await test.register("Scheme", redirectURIs: ["com.example.app:/callback"])
        let attempt = Attempt(test, by: client, at: "com.example.app:/callback").with("response_mode", "form_post")
        let reply = try await attempt.firstReply()
        #expect(try reply.redirectedError.code == .invalidRequest)
        #expect(reply.location?.hasPrefix("com.example.app:/callback?") == true)
    }

    // An ID token of another user, or of an unknown one.
    @Test func `a hint of another user requires that user`() async throws {
        let party = try await RelyingParty()
        _ = try await party.test.addUser("bob")
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        var bobs = party.test.browser()
        _ = try await bobs.authorize(party.attempt().url, username: "bob", password: TestServer.password)
        let silent = party.attempt(with: ["id_token_hint": hint, "prompt": "none"])
        #expect(try await bobs.open(silent.url).redirectedError.code == .loginRequired)
        let asked = try await bobs.open(party.attempt(with: ["id_token_hint": hint]).url)
        let again = try await bobs.signIn(on: asked, username: "bob", password: TestServer.password)
        #expect(try again.redirectedError.code == .loginRequired)
        let page = try await bobs.open(party.attempt(with: ["id_token_hint": hint]).url)
        let right = try await bobs.signIn(on: page, username: "alice", password: TestServer.password)
        _ = try right.code
    }

    // OpenID Connect Core §5.5.1: a `sub` among the claims requires the user with this subject identifier.
    @Test(arguments: ["id_token", "userinfo"])
    func `claims about another user require that user`(place: String) async throws {
        let party = try await RelyingParty()
        _ = try await party.test.addUser("bob")
        let subject = try #require(try party.claims(try await party.tokens())["sub"] as? String)
        let claims = #"{"\#(place)":{"sub":{"values":["nobody","\#(subject)"]}}}"#
        var alices = party.test.browser()
        _ = try await alices.authorize(party.attempt().url, username: "alice", password: TestServer.password)
        _ = try await alices.open(party.attempt(with: ["claims": claims, "prompt": "none"]).url).code
        var bobs = party.test.browser()
        _ = try await bobs.authorize(party.attempt().url, username: "bob", password: TestServer.password)
        let silent = party.attempt(with: ["claims": claims, "prompt": "none"])
        #expect(try await bobs.open(silent.url).redirectedError.code == .loginRequired)
        let asked = try await bobs.open(party.attempt(with: ["claims": claims]).url)
        let again = try await bobs.signIn(on: asked, username: "bob", password: TestServer.password)
        #expect(try again.redirectedError.code == .loginRequired)
        let nobody = #"{"id_token":{"sub":{"value":"nobody"}}}"#
        let none = party.attempt(with: ["claims": nobody, "prompt": "none"])
        #expect(try await alices.open(none.url).redirectedError.code == .loginRequired)
    }

    // OpenID Connect Core §3.1.2.1
    @Test func `a hint that this server did not issue is refused`() async throws {
        let party = try await RelyingParty()
        let now = party.test.clock.now
        let tokens = try await party.tokens()
        let genuine = try #require(tokens.idToken).exposed
        let tampered = String(genuine.dropLast(8)) + "AAAAAAAA"
        for hint in [tampered, "x", tokens.accessToken.exposed] {
            #expect(try await party.attempt(with: ["id_token_hint": hint]).error().code == .invalidRequest)
        }
        // A hint whose key was deleted names no user: it is ignored, but is not sufficient without a page.
        let foreign = try SigningKey.generate(.es256).sign(
            IDTokenClaims(
                issuer: party.test.issuer, subject: "x", audience: ["x"], expires: now + 60, issuedAt: now))
        _ = try await party.attempt(with: ["id_token_hint": foreign]).firstReply().signInPage
        let silent = party.attempt(with: ["id_token_hint": foreign, "prompt": "none"])
        #expect(try await silent.error().code == .loginRequired)
    }

    // `none` allows no page, so no other value beside it; a browser has one account, so there is none
    // to select.
    @Test(arguments: ["none select_account", "none login", "none consent"])
    func `prompt=none excludes other values`(prompt: String) async throws {
        #expect(try await RelyingParty().attempt(with: ["prompt": prompt]).error().code == .invalidRequest)
    }

    // `prompt=consent` asks again, even if consent is remembered.
    @Test func `consent is asked again with prompt=consent`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &browser)
        _ = try await browser.open(party.attempt(with: ["prompt": "consent"]).url).consentPage
        _ = try await browser.open(party.attempt(with: ["prompt": "select_account"]).url).signInPage
    }

    // RFC 9470 §5, OpenID Connect Core §5.5.1.1
    @Test func `a required authentication method that does not exist is reported`() async throws {
        let party = try await RelyingParty()
        let required = #"{"id_token":{"acr":{"essential":true,"values":["urn:example:mfa"]}}}"#
        #expect(try await party.attempt(with: ["claims": required]).error().code == .unmetAuthenticationRequirements)
        let wished = #"{"id_token":{"acr":{"values":["urn:example:mfa"]}}}"#
        let ours = #"{"id_token":{"acr":{"essential":true,"value":"urn:counterfoil:acr:password"}}}"#
        for claims in [wished, ours] {
            let tokens = try await party.tokens(with: ["claims": claims])
            #expect(try party.claims(tokens)["acr"] as? String == "urn:counterfoil:acr:password")
        }
    }

    // The access token contains the same claims.
    @Test func `both tokens state when and how the user signed in`() async throws {
        let party = try await RelyingParty()
        let tokens = try await party.tokens(with: ["max_age": "60"])
        let access = try await IssuedTokens(party.test).verified(tokens.accessToken)
        #expect(access.authTime == party.test.clock.now)
        #expect(access.authenticationContext == "urn:counterfoil:acr:password")
    }

    // OpenID Connect Core §5.5
    @Test(arguments: [
        "[]", "{", "1", #"{"id_token":[]}"#, #"{"id_token":{"acr":{"essential":"yes"}}}"#,
        #"{"x":{"x":{"x":{"x":{}}}}}"#, "{\"x\":\"\(String(repeating: "x", count: 5000))\"}",
    ])
    func `invalid claims are refused`(claims: String) async throws {
        #expect(try await RelyingParty().attempt(with: ["claims": claims]).error().code == .invalidRequest)
    }

    // OpenID Connect Core §11: only with consent, and never for a client without refresh tokens.
    @Test func `offline access is shown on the consent page`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt(for: "openid offline_access")
        var browser = party.test.browser()
        let page = try await browser.signIn(
            on: try await browser.open(attempt.url), username: "alice", password: TestServer.password)
        #expect(try page.consentPage.permissions.contains { $0.scope == "offline_access" })
        let tokens = try await party.redeem(try await browser.decide(.allow, on: page).code, of: attempt).tokenResponse
        #expect(tokens.refreshToken != nil)
        #expect(try await party.tokens().refreshToken == nil)
    }
}
