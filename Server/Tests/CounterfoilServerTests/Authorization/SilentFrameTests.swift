import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A request with `prompt=none` in a frame, by which a single-page app renews a sign-in (OpenID Connect Core §3.1.2.1).
///
/// A page of this server cannot be shown in a frame, so the app would wait for its timeout.
struct SilentFrameTests {
    private static let address = "https://app.example/cb"

    /// A single-page app of an unverified publisher, and a browser.
    private struct FrameFixture {
        let store: TestStore
        let test: TestServer
        let client: RegisteredClient
        var browser: ScriptedUserAgent

        init(
            _ redirectURI: String = SilentFrameTests.address, type: ClientType = .singlePage,
            change: (inout ClientPolicy) -> Void = { _ in }
        ) async throws {
            store = TestStore()
            test = try await TestServer(store: store)
            var policy = ClientPolicy.standard(for: type)
            change(&policy)
            client = try await test.register("Album", type: type, redirectURIs: [redirectURI], policy: policy)
            browser = test.browser()
        }

        /// An app on a verified host, to which the user has consented.
        static func remembered(type: ClientType = .singlePage) async throws -> FrameFixture {
            var fixture = try await FrameFixture(type: type) { $0.isClaimedHTTPSVerified = type == .singlePage }
            _ = try await fixture.attempt.authorize(with: &fixture.browser).code
            return fixture
        }

        var attempt: Attempt { Attempt(test, by: client, at: SilentFrameTests.address) }
        var silent: Attempt { attempt.with("prompt", "none") }

        /// Sends a request as a browser does for a frame, or for another destination.
        mutating func open(_ attempt: Attempt, in destination: String = "iframe") async throws -> Reply {
            try await browser.send(.get, to: attempt.url, fields: [.named("Sec-Fetch-Dest"): destination])
        }
    }

    /// Expects an error response at the redirect URI.
    private static func expectError(_ code: OAuthError.Code, in reply: Reply) throws {
        #expect(reply.status == .seeOther)
        #expect(reply.location?.hasPrefix(address + "?error=") == true)
        #expect(try reply.redirectedError.code == code)
        #expect(try reply.authorizationResponse.state?.exposed == "af0ifjsldkj")
    }

    // OpenID Connect Core §3.1.2.6
    @Test(arguments: ["iframe", "frame"])
    func `in a frame an unverified app gets login_required`(destination: String) async throws {
        var fixture = try await FrameFixture()
        try Self.expectError(.loginRequired, in: try await fixture.open(fixture.silent, in: destination))
    }

    @Test func `in a frame an unverified app gets consent_required`() async throws {
        var fixture = try await FrameFixture()
        _ = try await fixture.attempt.authorize(with: &fixture.browser)
        try Self.expectError(.consentRequired, in: try await fixture.open(fixture.silent))
    }

    @Test func `in a frame an app with a remembered consent gets a code`() async throws {
        var fixture = try await FrameFixture.remembered()
        let silent = fixture.silent
        let reply = try await fixture.open(silent)
        #expect(reply.status == .seeOther)
        #expect(try await fixture.test.redeem(silent.exchange(try reply.code)).tokenResponse.isBearer)
    }

    // RFC 9700 §4.11.2; only the destination of a frame changes the response.
    @Test(arguments: ["document", "empty", "", "IFRAME", "iframe, document", "embed", "object"])
    func `outside a frame a user must press a button`(destination: String) async throws {
        var fixture = try await FrameFixture()
        let reply = try await fixture.open(fixture.silent, in: destination)
        #expect(reply.status == .badRequest && reply.location == nil)
        #expect(try reply.goOnPage.host == "app.example")
    }

    @Test func `two destinations are none`() async throws {
        var fixture = try await FrameFixture()
        for _ in 0..<2 { fixture.browser.fields.append(HTTPField(name: try .named("Sec-Fetch-Dest"), value: "iframe")) }
        let reply = try await fixture.browser.send(.get, to: fixture.silent.url)
        #expect(reply.status == .badRequest && reply.location == nil)
    }

    // Without prompt=none the user needs a page, which the browser does not show in a frame.
    @Test func `in a frame without prompt=none an error is not redirected`() async throws {
        var fixture = try await FrameFixture()
        let reply = try await fixture.open(fixture.attempt.with("scope", "nonsense"))
        #expect(reply.status == .badRequest && reply.location == nil)
        _ = try await fixture.open(fixture.attempt).signInPage
    }

    // RFC 6749 §4.1.2.1; no redirect to an address that is not registered.
    @Test(
        arguments: [
            ("client_id", "app_unknown"), ("client_id", nil), ("redirect_uri", "https://evil.example/cb"),
            ("redirect_uri", "https://app.example/cb/"), ("redirect_uri", "https://app.example"),
            ("redirect_uri", "javascript:alert(1)"), ("redirect_uri", ""),
        ] as [(String, String?)])
    func `in a frame an unregistered client or redirect URI gets a page`(name: String, value: String?) async throws {
        var fixture = try await FrameFixture()
        let reply = try await fixture.open(fixture.silent.with("scope", "openid").with(name, value))
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        _ = try reply.problemPage
    }

    // Every other error is a redirect, also if the parameters cannot be parsed.
    @Test(
        arguments: [
            ("scope", "nonsense", OAuthError.Code.invalidScope), ("response_type", "token", .unsupportedResponseType),
            ("response_type", nil, .invalidRequest), ("code_challenge", nil, .invalidRequest),
            ("prompt", "none login", .invalidRequest), ("max_age", "x", .invalidRequest),
            ("request", "x", .requestNotSupported), ("request_uri", "urn:x", .requestURINotSupported),
            ("registration", "{}", .registrationNotSupported), ("claims", "[", .invalidRequest),
            ("id_token_hint", "x", .invalidRequest), ("resource", "https://unknown.example", .invalidTarget),
            ("response_mode", "web_message", .invalidRequest),
            ("nonce", String(repeating: "n", count: 30_000), .invalidRequest),
        ] as [(String, String?, OAuthError.Code)])
    func `in a frame an invalid parameter gets an error response`(
        name: String, value: String?, code: OAuthError.Code
    ) async throws {
        var fixture = try await FrameFixture()
        try Self.expectError(code, in: try await fixture.open(fixture.silent.with(name, value)))
    }

    @Test func `in a frame a repeated parameter gets an error response`() async throws {
        var fixture = try await FrameFixture()
        for name in ["prompt", "scope", "nonce"] {
            try Self.expectError(
                .invalidRequest, in: try await fixture.open(fixture.silent.adding(name, "none").adding(name, "x")))
        }
    }

    // The parameters of the form count as well.
    @Test func `in a frame a posted request gets an error response`() async throws {
        var fixture = try await FrameFixture()
        // Without a session, the request is sent again by GET.
        fixture.browser.fields = [try .named("Sec-Fetch-Dest"): "iframe"]
        let reply = try await fixture.browser.submit(fixture.silent.request, to: "/oauth2/authorize")
        try Self.expectError(.loginRequired, in: reply)
    }

    // OAuth 2.0 Multiple Response Type Encoding Practices §2.1: scripts read the fragment of the frame.
    @Test func `in a frame the response is in the fragment if the client asks for that`() async throws {
        var fixture = try await FrameFixture.remembered()
        let silent = fixture.silent.with("response_mode", "fragment")
        let reply = try await fixture.open(silent)
        #expect(reply.status == .seeOther)
        #expect(reply.location?.hasPrefix(Self.address + "#code=") == true)
        fixture.browser.cookies = [:]
        let refused = try await fixture.open(silent)
        #expect(refused.location?.hasPrefix(Self.address + "#error=login_required&") == true)
        #expect(refused.location?.contains("&state=af0ifjsldkj&") == true)
    }

    // The page that posts the form cannot be shown in a frame, so the code would be lost.
    @Test(arguments: [ClientType.singlePage, .web])
    func `in a frame form_post is refused in the query`(type: ClientType) async throws {
        var fixture = try await FrameFixture.remembered(type: type)
        let attempt = fixture.silent.with("response_mode", "form_post")
        let reply = try await fixture.open(attempt)
        try Self.expectError(.invalidRequest, in: reply)
        #expect(try reply.redirectedError.description?.contains("response_mode=form_post") == true)
        // Also if another error comes first.
        try Self.expectError(.invalidScope, in: try await fixture.open(attempt.with("scope", "nonsense")))
        // Outside a frame the form is posted.
        #expect(try await fixture.open(attempt, in: "document").goOnPage.fields.contains { $0.name == "code" })
    }

    @Test(arguments: [StoreOperation.session, .consent, .recordConsent, .resource])
    func `in a frame a store fault gets an error response`(operation: StoreOperation) async throws {
        var fixture = try await FrameFixture.remembered()
        fixture.store.fail(operation)
        let attempt =
            operation == .resource ? fixture.silent.with("resource", "https://photos.example") : fixture.silent
        try Self.expectError(.temporarilyUnavailable, in: try await fixture.open(attempt))
        #expect(fixture.test.log.lines.contains { $0.hasPrefix("error") && $0.contains("the disk is full") })
    }

    // Without the client, its redirect URIs are not known.
    @Test func `in a frame a client that cannot be read gets a page`() async throws {
        var fixture = try await FrameFixture.remembered()
        fixture.store.fail(.client)
        let reply = try await fixture.open(fixture.silent)
        #expect(reply.status == .serviceUnavailable && reply.location == nil)
    }

    @Test func `in a frame a session that ends meanwhile gets login_required`() async throws {
        var fixture = try await FrameFixture.remembered()
        let (store, alice, now) = (fixture.store, fixture.test.alice.id, fixture.test.clock.now)
        store.before(.recordConsent) { _ = try? await store.signOutEverywhere(alice, except: nil, at: now) }
        try Self.expectError(.loginRequired, in: try await fixture.open(fixture.silent))
    }

    @Test func `in a frame a user who is deactivated meanwhile gets login_required`() async throws {
        var fixture = try await FrameFixture.remembered()
        let (store, alice, now) = (fixture.store, fixture.test.alice.id, fixture.test.clock.now)
        store.before(.recordConsent) { _ = try? await store.disableUser(alice, at: now, recording: []) }
        try Self.expectError(.loginRequired, in: try await fixture.open(fixture.silent))
    }

    // The request starts again, because the redirect URI may no longer be registered.
    @Test func `in a frame a client that changes meanwhile is judged again`() async throws {
        var fixture = try await FrameFixture.remembered()
        let (store, id, now) = (fixture.store, fixture.client.id, fixture.test.clock.now)
        let moved = try RedirectURI("https://elsewhere.example/cb")
        store.before(.recordConsent) {
            guard var client = try? await store.client(id) else { return }
            client.redirectURIs = [moved]
            client.changedAt = now
            _ = try? await store.updateClient(client, logo: .keep)
        }
        let reply = try await fixture.open(fixture.silent)
        #expect(reply.status == .seeOther)
        let location = try #require(reply.location)
        #expect(location.hasPrefix("https://id.example.com/oauth2/authorize?"))
        let again = try await fixture.browser.send(
            .get, to: location, fields: [.named("Sec-Fetch-Dest"): "iframe"])
        #expect(again.status == .badRequest && again.location == nil)
        _ = try again.problemPage
    }

    // OpenID Connect Core §3.1.2.6: too many approvals are an error response too.
    @Test func `in a frame too many requests get an error response`() async throws {
        var fixture = try await FrameFixture.remembered()
        for _ in 0..<60 { _ = try await fixture.open(fixture.silent) }
        try Self.expectError(.temporarilyUnavailable, in: try await fixture.open(fixture.silent))
    }
}
