import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The assertions of the modules of `oidcc-rp-initiated-logout-certification-test-plan`, under their names.
@Suite("OpenID conformance: RP-initiated logout")
struct LogoutConformanceTests {
    /// A user who has signed in to a client.
    private struct SignedIn {
        let party: RelyingParty
        var browser: ScriptedUserAgent
        let hint: String

        init() async throws {
            party = try await RelyingParty()
            var browser = party.test.browser()
            hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
            self.browser = browser
        }

        mutating func logOut(_ parameters: KeyValuePairs<String, String>) async throws -> Reply {
            try await browser.open("/oauth2/logout?" + FormParameters(parameters).encoded)
        }

        /// Returns true if the browser still has a session.
        mutating func isSignedIn() async throws -> Bool {
            let reply = try await browser.open(party.attempt(with: ["prompt": "none"]).url)
            if case .code = try reply.authorizationResponse.outcome { return true }
            #expect(try reply.redirectedError.code == .loginRequired)
            return false
        }

        /// Expects no redirect; a user who confirms is signed out and sees a page of the server.
        mutating func expectConfirmationWithoutRedirect(_ reply: Reply) async throws {
            let page = try reply.signOutPage
            #expect(try await isSignedIn())
            let done = try await browser.submit(
                FormParameters(["request": page.request, "ticket": page.ticket, "decision": "sign-out"]),
                to: page.action)
            #expect(try done.signedOutPage.destination == nil)
            #expect(try await !isSignedIn())
        }
    }

    @Test func `oidcc-rp-initiated-logout`() async throws {
        var user = try await SignedIn()
        let reply = try await user.logOut([
            "id_token_hint": user.hint, "post_logout_redirect_uri": RelyingParty.afterLogout, "state": "s-1",
        ])
        #expect(reply.status == .seeOther)
        #expect(reply.location == RelyingParty.afterLogout + "?state=s-1")
        #expect(try await !user.isSignedIn())
    }

    // The session of the hint ends, and the browser is redirected nowhere.
    @Test func `oidcc-rp-initiated-logout-bad-post-logout-redirect-uri`() async throws {
        var user = try await SignedIn()
        let reply = try await user.logOut([
            "id_token_hint": user.hint, "post_logout_redirect_uri": "https://evil.example/",
        ])
        #expect(try reply.signedOutPage.destination == nil)
    }

    @Test func `oidcc-rp-initiated-logout-modified-id-token-hint`() async throws {
        var user = try await SignedIn()
        let parts = user.hint.split(separator: ".")
        let unsigned = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8)) + ".\(parts[1])."
        let reply = try await user.logOut([
            "id_token_hint": unsigned, "post_logout_redirect_uri": RelyingParty.afterLogout,
        ])
        try await user.expectConfirmationWithoutRedirect(reply)
    }

    @Test func `oidcc-rp-initiated-logout-bad-id-token-hint`() async throws {
        var user = try await SignedIn()
        let key = try SigningKey.generate(.es256)
        let forged = try key.sign(
            IDTokenClaims(
                issuer: user.party.test.issuer, subject: user.party.test.alice.id.rawValue,
                audience: [user.party.client.id.rawValue], expires: user.party.test.clock.now + 60,
                issuedAt: user.party.test.clock.now))
        let reply = try await user.logOut([
            "id_token_hint": forged, "client_id": user.party.client.id.rawValue,
            "post_logout_redirect_uri": RelyingParty.afterLogout,
        ])
        try await user.expectConfirmationWithoutRedirect(reply)
    }

    @Test func `oidcc-rp-initiated-logout-no-id-token-hint`() async throws {
        var user = try await SignedIn()
        try await user.expectConfirmationWithoutRedirect(
            try await user.logOut(["post_logout_redirect_uri": RelyingParty.afterLogout]))
    }

    @Test func `oidcc-rp-initiated-logout-query-added`() async throws {
        var user = try await SignedIn()
        let reply = try await user.logOut([
            "id_token_hint": user.hint, "post_logout_redirect_uri": RelyingParty.afterLogout + "?foo=bar",
        ])
        #expect(try reply.signedOutPage.destination == nil)
    }

    @Test func `oidcc-rp-initiated-logout-no-params`() async throws {
        var user = try await SignedIn()
        try await user.expectConfirmationWithoutRedirect(try await user.browser.open("/oauth2/logout"))
    }

    @Test func `oidcc-rp-initiated-logout-no-post-logout-redirect-uri`() async throws {
        var user = try await SignedIn()
        #expect(try await user.logOut(["id_token_hint": user.hint]).signedOutPage.destination == nil)
        #expect(try await !user.isSignedIn())
    }

    @Test func `oidcc-rp-initiated-logout-only-state`() async throws {
        var user = try await SignedIn()
        try await user.expectConfirmationWithoutRedirect(try await user.logOut(["state": "s-1"]))
    }

    @Test func `oidcc-rp-initiated-logout-no-state`() async throws {
        var user = try await SignedIn()
        let reply = try await user.logOut([
            "id_token_hint": user.hint, "post_logout_redirect_uri": RelyingParty.afterLogout,
        ])
        #expect(reply.location == RelyingParty.afterLogout)
    }

    // D4: discovery
    @Test func `oidcc-rp-initiated-logout-discovery-endpoint-verification`() async throws {
        let party = try await RelyingParty()
        let members = try RelyingParty.members(of: await party.test.send(.get, to: .metadata))
        #expect(members["end_session_endpoint"] as? String == party.test.issuer.endpoint("/oauth2/logout"))
    }
}
