import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The assertions of the modules of `oidcc-basic-certification-test-plan`, under their names.
///
/// Requests have the parameters of the plan: a nonce and no PKCE, unless a module is about them.
@Suite("OpenID conformance: basic")
struct BasicConformanceTests {
    @Test func `oidcc-server`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        #expect(!attempt.request.pairs.contains { $0.name.hasPrefix("code_challenge") })
        let reply = try await attempt.authorize()
        #expect(try reply.authorizationResponse.state?.exposed == "af0ifjsldkj")
        let answer = await party.redeem(try reply.code, of: attempt)
        #expect(answer.fields[.cacheControl] == "no-store")
        let tokens = try answer.tokenResponse
        let claims = try party.claims(tokens)
        #expect(claims["iss"] as? String == party.test.issuer.rawValue)
        #expect(claims["sub"] as? String == party.test.alice.id.rawValue)
        #expect(claims["aud"] as? String == party.client.id.rawValue)
        #expect(claims["nonce"] as? String == RelyingParty.nonce)
        #expect(claims["exp"] is Int && claims["iat"] is Int && claims["auth_time"] is Int)
        let nonce = try #require(Nonce(RelyingParty.nonce))
        _ = try await IssuedTokens(party.test).verified(tokens, for: party.client, nonce: nonce, algorithms: [.rs256])
    }

    @Test func `oidcc-response-type-missing`() async throws {
        let error = try await RelyingParty().attempt(with: ["response_type": nil]).error()
        #expect([.invalidRequest, .unsupportedResponseType].contains(error.code))
    }

    @Test func `oidcc-idtoken-signature`() async throws {
        let party = try await RelyingParty()
        let header = try IssuedTokens.parts(of: try #require(try await party.tokens().idToken).exposed).header
        #expect(header["alg"] as? String == "RS256")
        let kid = try #require(header["kid"] as? String)
        let keys = try RelyingParty.members(of: await party.test.send(.get, to: .keySet))["keys"] as? [[String: Any]]
        #expect(keys?.contains { $0["kid"] as? String == kid && $0["kty"] as? String == "RSA" } == true)
    }

    // A client cannot request an ID token without a signature.
    @Test func `oidcc-idtoken-unsigned`() async throws {
        let party = try await RelyingParty()
        let members = try RelyingParty.members(of: await party.test.send(.get, to: .metadata))
        let algorithms = try #require(members["id_token_signing_alg_values_supported"] as? [String])
        #expect(algorithms.allSatisfy { $0.lowercased() != "none" })
        #expect(SigningAlgorithm(rawValue: "none") == nil)
    }

    // OpenID Connect Core §5.3.1
    @Test func `oidcc-userinfo-get`() async throws {
        let party = try await RelyingParty()
        let tokens = try await party.tokens()
        let reply = await party.userInfo(tokens.accessToken)
        #expect(try RelyingParty.members(of: reply)["sub"] as? String == party.claims(tokens)["sub"] as? String)
        #expect(reply.fields[.cacheControl] == "no-store")
    }

    @Test func `oidcc-userinfo-post-header`() async throws {
        let party = try await RelyingParty()
        let reply = await party.userInfo(try await party.tokens().accessToken, method: .post)
        #expect(try RelyingParty.members(of: reply)["sub"] as? String == party.test.alice.id.rawValue)
    }

    // RFC 6750 §2.2
    @Test func `oidcc-userinfo-post-body`() async throws {
        let party = try await RelyingParty()
        let form = FormParameters(["access_token": try await party.tokens().accessToken.exposed])
        let reply = await party.test.send(
            .post, to: .userInfo, fields: [.contentType: "application/x-www-form-urlencoded"],
            body: Array(form.encoded.utf8))
        #expect(try RelyingParty.members(of: reply)["sub"] as? String == party.test.alice.id.rawValue)
    }

    // RFC 9700 §2.1.1: the request has neither nonce nor PKCE, which only an exemption allows.
    @Test func `oidcc-ensure-request-without-nonce-succeeds-for-code-flow`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt(with: ["nonce": nil])
        #expect(party.client.policy.pkce == ClientPolicy.standard(for: .web).pkce)
        #expect(try await attempt.error().code == .invalidRequest)

        var policy = party.client.policy
        policy.pkce = .exemptUntil(CalendarDay(of: party.test.clock.now))
        try await party.test.setPolicy(policy, of: party.client.id)
        var browser = party.test.browser()
        #expect(try party.claims(try await party.tokens(attempt, in: &browser))["nonce"] == nil)
    }

    // OpenID Connect Core §5.4
    @Test(arguments: [
        ("profile", ["name", "given_name", "family_name", "preferred_username", "updated_at"]),
        ("email", ["email", "email_verified"]), ("address", ["address"]),
        ("phone", ["phone_number", "phone_number_verified"]),
        ("profile email address phone", ["name", "email", "address", "phone_number"]),
    ])
    func `oidcc-scope-profile, -email, -address, -phone, -all`(scope: String, names: [String]) async throws {
        let party = try await RelyingParty()
        let user = try await party.user(try await party.tokens(for: "openid \(scope)").accessToken)
        for name in names { #expect(user[name] != nil, "\(name)") }
        if !scope.contains("email") { #expect(user["email"] == nil) }
        if !scope.contains("profile") { #expect(user["name"] == nil) }
        if scope.contains("address") { #expect((user["address"] as? [String: String])?["locality"] == "Oslo") }
    }

    // One module, whose name differs between versions of the suite.
    @Test func `oidcc-ensure-other-scope-order-succeeds, oidcc-alternate-happy-flow`() async throws {
        let party = try await RelyingParty()
        var attempt = party.attempt(for: "email profile openid")
        attempt.request = FormParameters(attempt.request.pairs.reversed())
        var browser = party.test.browser()
        #expect(try await party.tokens(attempt, in: &browser).idToken != nil)
    }

    /// Expects a sign-in with a parameter that has no effect.
    private func expectSignIn(with name: String, _ value: String) async throws {
        #expect(try await RelyingParty().tokens(with: [name: value]).idToken != nil)
    }

    @Test func `oidcc-display-page`() async throws { try await expectSignIn(with: "display", "page") }

    @Test func `oidcc-display-popup`() async throws { try await expectSignIn(with: "display", "popup") }

    @Test func `oidcc-ensure-request-with-unknown-parameter-succeeds`() async throws {
        try await expectSignIn(with: "extra", "foobar")
    }

    @Test func `oidcc-login-hint`() async throws { try await expectSignIn(with: "login_hint", "alice") }

    @Test func `oidcc-ui-locales`() async throws { try await expectSignIn(with: "ui_locales", "se") }

    @Test func `oidcc-claims-locales`() async throws { try await expectSignIn(with: "claims_locales", "se") }

    @Test(arguments: ["1 2", "urn:counterfoil:acr:password"])
    func `oidcc-ensure-request-with-acr-values-succeeds`(values: String) async throws {
        try await expectSignIn(with: "acr_values", values)
    }

    @Test func `oidcc-prompt-login`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let first = try party.claims(try await party.tokens(party.attempt(), in: &browser))
        party.test.clock.advance(by: 5)
        let again = party.attempt(with: ["prompt": "login"])
        _ = try await browser.open(again.url).signInPage
        let second = try party.claims(try await party.tokens(again, in: &browser))
        #expect(second["sub"] as? String == first["sub"] as? String)
        #expect(try #require(second["auth_time"] as? Int) > (try #require(first["auth_time"] as? Int)))
        // Tokens of other clients in the session stay valid.
        #expect(try #require(second["sid"] as? String) == (try #require(first["sid"] as? String)))
    }

    @Test func `oidcc-prompt-none-not-logged-in`() async throws {
        #expect(try await RelyingParty().attempt(with: ["prompt": "none"]).error().code == .loginRequired)
    }

    @Test func `oidcc-prompt-none-logged-in`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let first = try party.claims(try await party.tokens(party.attempt(), in: &browser))
        party.test.clock.advance(by: 5)
        let silent = party.attempt(with: ["prompt": "none"])
        let code = try await browser.open(silent.url).code
        let second = try party.claims(try await party.redeem(code, of: silent).tokenResponse)
        #expect(second["sub"] as? String == first["sub"] as? String)
        #expect(second["auth_time"] as? Int == first["auth_time"] as? Int)
    }

    @Test func `oidcc-max-age-1`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let first = try party.claims(try await party.tokens(party.attempt(), in: &browser))
        party.test.clock.advance(by: 2)
        let again = party.attempt(with: ["max_age": "1"])
        _ = try await browser.open(again.url).signInPage
        let second = try party.claims(try await party.tokens(again, in: &browser))
        #expect(try #require(second["auth_time"] as? Int) > (try #require(first["auth_time"] as? Int)))
    }

    @Test func `oidcc-max-age-10000`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let first = try party.claims(try await party.tokens(party.attempt(), in: &browser))
        party.test.clock.advance(by: 2)
        let again = party.attempt(with: ["max_age": "10000"])
        let code = try await browser.open(again.url).code
        let second = try party.claims(try await party.redeem(code, of: again).tokenResponse)
        #expect(second["auth_time"] as? Int == first["auth_time"] as? Int)
    }

    @Test func `oidcc-id-token-hint`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let first = try await party.tokens(party.attempt(), in: &browser)
        let hint = try #require(first.idToken).exposed
        let silent = party.attempt(with: ["prompt": "none", "id_token_hint": hint])
        let code = try await browser.open(silent.url).code
        let second = try await party.redeem(code, of: silent).tokenResponse
        #expect(try party.claims(second)["sub"] as? String == party.claims(first)["sub"] as? String)
    }

    @Test func `oidcc-codereuse`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        let code = try await attempt.authorize().code
        _ = try await party.redeem(code, of: attempt).tokenResponse
        #expect(try await party.redeem(code, of: attempt).tokenError.error == "invalid_grant")
    }

    // Tokens issued before the second redemption are revoked.
    @Test func `oidcc-codereuse-30seconds`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        let code = try await attempt.authorize().code
        let tokens = try await party.redeem(code, of: attempt).tokenResponse
        #expect(await party.userInfo(tokens.accessToken).status == .ok)
        party.test.clock.advance(by: 30)
        #expect(try await party.redeem(code, of: attempt).tokenError.error == "invalid_grant")
        #expect(await party.userInfo(tokens.accessToken).status == .unauthorized)
    }

    @Test func `oidcc-ensure-registered-redirect-uri`() async throws {
        let party = try await RelyingParty()
        let reply = try await party.attempt(with: ["redirect_uri": "https://rp.example.net/other"]).firstReply()
        #expect(reply.status == .badRequest)
        _ = try reply.problemPage
    }

    @Test func `oidcc-ensure-post-request-succeeds`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        var browser = party.test.browser()
        var reply = try await browser.submit(attempt.request, to: "/oauth2/authorize")
        reply = try await browser.signIn(on: reply, username: "alice", password: TestServer.password)
        reply = try await browser.decide(.allow, on: reply)
        #expect(try await party.redeem(try reply.code, of: attempt).tokenResponse.idToken != nil)
    }

    @Test func `oidcc-server-client-secret-post`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        let form = party.exchange(try await attempt.authorize().code, of: attempt)
            .adding("client_secret", party.secret.exposed)
        #expect(try await party.test.redeem(form).tokenResponse.idToken != nil)
    }

    @Test func `oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported`() async throws {
        let party = try await RelyingParty()
        let error = try await party.attempt(with: ["request_uri": "https://rp.example.net/request"]).error()
        #expect(error.code == .requestURINotSupported)
    }

    @Test func `oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported`() async throws {
        let party = try await RelyingParty()
        #expect(
            try await party.attempt(with: ["request": "eyJhbGciOiJub25lIn0.e30."]).error().code == .requestNotSupported)
    }

    // Oidcc-ensure-request-object-with-redirect-uri
    @Test func `oidcc-ensure-request-object-with-redirect-uri`() async throws {
        let party = try await RelyingParty()
        let object = "eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2V2aWwuZXhhbXBsZS8ifQ."
        let reply = try await party.attempt(with: ["request": object]).firstReply()
        #expect(try reply.redirectedError.code == .requestNotSupported)
        #expect(try reply.destination.hasPrefix(RelyingParty.callback))
    }

    // OpenID Connect Core §5.5: with the scope that contains it, in the requested place.
    @Test func `oidcc-claims-essential`() async throws {
        let party = try await RelyingParty()
        let claims = #"{"userinfo":{"name":{"essential":true}},"id_token":{"email":null}}"#
        let tokens = try await party.tokens(for: "openid profile email", with: ["claims": claims])
        #expect(try await party.user(tokens.accessToken)["name"] as? String == "Alice")
        #expect(try party.claims(tokens)["email"] as? String == "alice@example.com")
    }

    @Test func `oidcc-refresh-token`() async throws {
        let party = try await RelyingParty()
        let tokens = try await party.tokens(for: "openid offline_access", with: ["prompt": "consent"])
        let form = FormParameters([
            "grant_type": "refresh_token", "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        let renewed = try await party.test.redeem(form, fields: [.authorization: party.basic]).tokenResponse
        #expect(renewed.accessToken.exposed != tokens.accessToken.exposed)
        #expect(try party.claims(renewed)["sub"] as? String == party.claims(tokens)["sub"] as? String)
        #expect(try party.claims(renewed)["nonce"] == nil)
        // Another client cannot use it.
        let stranger = form.adding("client_id", party.test.lightbox.id.rawValue)
        #expect(try await party.test.redeem(stranger).tokenError.error == "invalid_grant")
    }

    @Test func `oidcc-ensure-request-with-valid-pkce-succeeds`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt(usesPKCE: true)
        #expect(attempt.request.pairs.contains { ($0.name, $0.value) == ("code_challenge_method", "S256") })
        var browser = party.test.browser()
        #expect(try await party.tokens(attempt, in: &browser).idToken != nil)
    }
}
