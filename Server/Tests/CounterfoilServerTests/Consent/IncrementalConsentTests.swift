@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Incremental authorization: a request for further scopes asks only about these, and the earlier grant stays as it is.
struct IncrementalConsentTests {
    private static let api = "https://photos.example.com"

    private let test: TestServer

    init() async throws {
        test = try await TestServer()
        _ = try await test.addAPI(Self.api)
    }

    /// A native client at a loopback address, for which no consent is remembered.
    private func attempt(_ scope: String, optional: String = "", at api: String? = Self.api) async throws -> Attempt {
        let client = try await test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/callback"],
            scope: "openid offline_access photos.read photos.write", optionalScope: optional)
        let attempt = Attempt(test, by: client, for: scope)
        return api.map { attempt.adding("resource", $0) } ?? attempt
    }

    private func redeem(_ reply: Reply, of attempt: Attempt) async throws -> TokenResponse {
        try await test.redeem(attempt.exchange(reply.code)).tokenResponse
    }

    // The new scope is a question, and the earlier ones are listed; the new token has all of them.
    @Test func `a request for the union of scopes asks about the new one only`() async throws {
        var browser = test.browser()
        _ = try await attempt("offline_access photos.read").authorize(with: &browser)
        let union = try await attempt("offline_access photos.read photos.write")
        let reply = try await browser.open(union.url)
        let page = try reply.consentPage
        #expect(page.permissions.map(\.scope) == ["photos.write"])
        #expect(page.allowedBefore.map(\.scope) == ["offline_access", "photos.read"])
        #expect(page.earlierConsent == "You allowed some of this on 15 January 2027.")
        let html = try reply.html()
        #expect(html.contains("<h2 id=\"permissions\"><bdi>Darkroom</bdi> will also be able to</h2>"))
        #expect(html.contains("<h2 id=\"allowed-before\">You already allowed</h2>"))
        #expect(html.contains("<ul class=\"permissions\" role=\"list\" aria-labelledby=\"allowed-before\">"))
        #expect(!html.contains("type=\"checkbox\""))
        let tokens = try await redeem(try await browser.decide(.allow, on: reply), of: union)
        #expect(tokens.scope?.description == "offline_access photos.read photos.write")
        let refreshed = try await union.refresh(tokens).tokenResponse
        #expect(refreshed.scope?.description == "offline_access photos.read photos.write")
    }

    // An optional scope that was allowed before stays allowed without a box; a declined one has a box.
    @Test(arguments: [[], ["photos.write"]])
    func `an optional scope that was allowed before is kept without a box`(leavingOut: [String]) async throws {
        var browser = test.browser()
        _ = try await attempt("photos.read", optional: "photos.read photos.write").authorize(with: &browser)
        let union = try await attempt("photos.read photos.write", optional: "photos.read photos.write")
        let reply = try await browser.open(union.url)
        #expect(try reply.consentPage.allowedBefore.map(\.scope) == ["photos.read"])
        let html = try reply.html()
        #expect(html.contains("<input type=\"hidden\" name=\"permission.photos.read\" value=\"granted\">"))
        #expect(html.contains("<input type=\"checkbox\" name=\"permission.photos.write\" value=\"granted\">"))
        let answer = try await browser.decide(.allow, on: reply, leavingOut: Set(leavingOut))
        let tokens = try await redeem(answer, of: union)
        #expect(tokens.scope?.description == (leavingOut.isEmpty ? "photos.read photos.write" : "photos.read"))
        #expect(
            try await browser.open(union.url).consentPage.permissions.map(\.scope)
                == (leavingOut.isEmpty ? ["photos.read", "photos.write"] : ["photos.write"]))
    }

    // RFC 6749 §3.3 and §6: the new token has the requested scope, and no later request narrows or ends a grant.
    @Test func `a request for the new scope alone keeps the earlier grant and its refresh token`() async throws {
        var browser = test.browser()
        let first = try await attempt("offline_access photos.read")
        let before = try await redeem(try await first.authorize(with: &browser), of: first)
        let more = try await attempt("photos.write")
        let reply = try await browser.open(more.url)
        let page = try reply.consentPage
        #expect(page.permissions.map(\.scope) == ["photos.write"])
        #expect(page.allowedBefore.isEmpty)
        #expect(page.earlierConsent == "What you allowed on 15 January 2027 stays as it is.")
        let after = try await redeem(try await browser.decide(.allow, on: reply), of: more)
        #expect(after.scope?.description == "photos.write")
        #expect(after.refreshToken == nil)
        #expect(try await first.refresh(before).tokenResponse.scope?.description == "offline_access photos.read")
        let consent = try #require(try await test.store.consent(of: test.alice.id, to: first.client.id))
        #expect(consent.scope.description == "offline_access photos.read photos.write")
    }

    // A denial ends the request and nothing else.
    @Test func `a denied request for more keeps the earlier grant`() async throws {
        var browser = test.browser()
        let first = try await attempt("offline_access photos.read")
        let before = try await redeem(try await first.authorize(with: &browser), of: first)
        let union = try await attempt("offline_access photos.read photos.write")
        let denied = try await browser.decide(.deny, on: try await browser.open(union.url))
        #expect(try denied.redirectedError.code == .accessDenied)
        #expect(try await first.refresh(before).tokenResponse.scope?.description == "offline_access photos.read")
    }

    // RFC 8252 §8.6: any program could send this request, so the page asks about everything, with the hint.
    @Test func `a repeated request of a client that is not assured asks about every scope`() async throws {
        var browser = test.browser()
        let again = try await attempt("offline_access photos.read")
        _ = try await again.authorize(with: &browser)
        let page = try await browser.open(again.url).consentPage
        #expect(page.permissions.map(\.scope) == ["offline_access", "photos.read"])
        #expect(page.permissions.allSatisfy { !$0.isNew })
        #expect(page.allowedBefore.isEmpty)
        #expect(page.earlierConsent == "You allowed this on 15 January 2027.")
    }

    // OpenID Connect Core §3.1.2.1; a client that looks different gets nothing for what another one was allowed.
    @Test func `prompt=consent and a changed client ask about everything again`() async throws {
        var browser = test.browser()
        _ = try await attempt("photos.read").authorize(with: &browser)
        let union = try await attempt("photos.read photos.write")
        let prompted = try await browser.open(union.with("prompt", "consent").url).consentPage
        #expect(prompted.permissions.map(\.scope) == ["photos.read", "photos.write"])
        #expect(prompted.permissions.map(\.isNew) == [false, true])
        #expect(prompted.allowedBefore.isEmpty)
        try await test.change(union.client) { $0.presentation.publisher = "Another Publisher" }
        let changed = try await browser.open(union.url).consentPage
        #expect(changed.permissions.map(\.scope) == ["photos.read", "photos.write"])
        #expect(changed.allowedBefore.isEmpty)
    }

    // RFC 8707 §2: what was allowed at one API is not allowed at another.
    @Test func `a scope that was allowed at another API is a question`() async throws {
        var browser = test.browser()
        _ = try await test.addAPI("https://albums.example.com")
        _ = try await attempt("openid photos.read", at: "https://albums.example.com").authorize(with: &browser)
        let page = try await browser.open(try await attempt("openid photos.read").url).consentPage
        #expect(page.permissions.map(\.scope) == ["photos.read"])
        #expect(page.allowedBefore.map(\.scope) == ["openid"])
    }

    // RFC 8628 §5.4: what was allowed to one device is no answer for another.
    @Test func `the request of a device asks about everything again`() async throws {
        let device = try await TestDevice(test, scope: "photos.read photos.write")
        var browser = test.browser()
        _ = try await browser.answer(try await device.codes())
        let codes = try await device.codes(["scope": "photos.read photos.write"])
        let reply = try await browser.type(userCode: codes.userCode)
        #expect(try reply.consentPage.permissions.map(\.scope) == ["photos.read", "photos.write"])
        #expect(try reply.consentPage.permissions.map(\.isNew) == [false, true])
        #expect(try reply.consentPage.allowedBefore.isEmpty)
        _ = try await browser.decide(.allow, on: reply)
        #expect(try await device.poll(codes).tokenResponse.scope?.description == "photos.read photos.write")
    }

    @Test(arguments: [
        ("de", " kann dann außerdem</h2>", "Bereits erlaubt"), ("es", " también podrá</h2>", "Ya permitido"),
        ("fr", " pourra aussi</h2>", "Déjà autorisé"), ("nb", " vil også kunne</h2>", "Allerede tillatt"),
    ])
    func `the page is in the language of the user`(language: String, more: String, allowed: String) async throws {
        var browser = test.browser()
        browser.fields = [.acceptLanguage: language]
        _ = try await attempt("photos.read").authorize(with: &browser)
        let html = try await browser.open(try await attempt("photos.read photos.write").url).html()
        #expect(html.contains(more) && html.contains(allowed))
    }
}
