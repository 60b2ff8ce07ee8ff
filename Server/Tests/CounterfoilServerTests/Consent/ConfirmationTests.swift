import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

@testable import CounterfoilServer

/// A first-party client at a redirect URI that every program on the device can claim (RFC 8252 §8.6).
struct ConfirmationTests {
    /// A registered redirect URI, and the requested form of it.
    struct Address: Sendable {
        let registered: String
        let requested: String
    }

    private static let unassured = [
        Address(registered: "http://127.0.0.1/callback", requested: "http://127.0.0.1:51004/callback"),
        Address(registered: "http://localhost/callback", requested: "http://localhost:51004/callback"),
        Address(registered: "com.example.album:/cb", requested: "com.example.album:/cb"),
    ]

    private static func attempt(
        _ test: TestServer, at address: Address, type: ClientType = .native
    ) async throws -> Attempt {
        var policy = ClientPolicy.standard(for: type)
        // No flag of a policy makes the redirect URI safe.
        policy.isFirstParty = true
        policy.isVouchedFor = true
        policy.isClaimedHTTPSVerified = true
        policy.requiresState = false
        let client = try await test.register(
            "Album", type: type, redirectURIs: [address.registered],
            scope: "openid photos.read photos.write", optionalScope: "photos.write", policy: policy)
        return Attempt(test, by: client, at: address.requested, for: "openid photos.read photos.write")
    }

    /// A browser in which alice is signed in.
    private static func browser(_ test: TestServer) async throws -> ScriptedUserAgent {
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        return browser
    }

    // RFC 8252 §8.6: each time, and the page names the user and the client.
    @Test(arguments: unassured)
    func `a first-party client gets no code without an interaction of the user`(address: Address) async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, at: address)
        var browser = try await Self.browser(test)
        for _ in 0..<2 {
            let page = try await browser.open(attempt.url)
            #expect(page.status == .ok && page.location == nil)
            let shown = try page.continuePage
            #expect(shown.clientName.description == "Album")
            #expect(shown.userDisplayName.description == "Alice")
            #expect(try page.html().contains("Continue as"))
            let code = try await browser.confirm(.allow, on: page).code
            let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
            #expect(tokens.scope?.description == "openid photos.read photos.write", "nothing is left out")
        }
    }

    // RFC 8252 §8.6; OpenID Connect Core §3.1.2.6.
    @Test(arguments: unassured)
    func `prompt=none at an unassured redirect URI is interaction_required`(address: Address) async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, at: address)
        var browser = try await Self.browser(test)
        _ = try await browser.confirm(.allow, on: try await browser.open(attempt.url))
        let reply = try await browser.open(attempt.with("prompt", "none").url)
        #expect(try reply.redirectedError.code == .interactionRequired)
        #expect(try reply.authorizationResponse.state?.exposed == "af0ifjsldkj")
    }

    @Test(arguments: [ClientType.native, .web, .singlePage])
    func `a first-party client at an https redirect URI gets an immediate response`(type: ClientType) async throws {
        let test = try await TestServer()
        let address = Address(registered: "https://app.example/cb", requested: "https://app.example/cb")
        let attempt = try await Self.attempt(test, at: address, type: type)
        var browser = try await Self.browser(test)
        #expect(try await browser.open(attempt.url).status == .seeOther)
        #expect(try await browser.open(attempt.with("prompt", "none").url).code.exposed.isEmpty == false)
    }

    // A loopback URI of a web client is for development, where no client counts as first-party.
    @Test func `a web client at a loopback address needs consent`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, at: Self.unassured[0], type: .web)
        var browser = try await Self.browser(test)
        _ = try await browser.open(attempt.url).consentPage
    }

    // A password that was typed for this request is an interaction, so the user is not asked twice.
    @Test func `a user who has just signed in for the request confirms nothing`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, at: Self.unassured[0])
        var browser = test.browser()
        let page = try await browser.open(attempt.url)
        let reply = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try reply.code.exposed.isEmpty == false)
        _ = try await browser.open(attempt.with("state", "another").url).continuePage
    }

    // prompt=consent asks for consent as always; a third-party client is asked about as before.
    @Test func `consent is asked for if it is required`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, at: Self.unassured[0])
        var browser = try await Self.browser(test)
        _ = try await browser.open(attempt.with("prompt", "consent").url).consentPage
        let other = Attempt(test)
        _ = try await browser.open(other.url).consentPage
        #expect(
            try await browser.open(other.with("prompt", "none").url).redirectedError.code == .consentRequired)
    }

    @Test func `cancelling returns an error to the client, and another account restarts the request`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, at: Self.unassured[0])
        var browser = try await Self.browser(test)
        let denied = try await browser.confirm(.deny, on: try await browser.open(attempt.url))
        #expect(try denied.redirectedError.code == .accessDenied)
        let signIn = try await browser.confirm(.switchAccount, on: try await browser.open(attempt.url))
        _ = try signIn.signInPage
        _ = try await browser.open(attempt.url).signInPage
    }

    // The decision is valid once, for this client as it was shown, and never for the consent page.
    @Test func `a confirmation is valid for its own page only`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, at: Self.unassured[0])
        var browser = try await Self.browser(test)
        let page = try await browser.open(attempt.url)
        let shown = try page.continuePage
        let misplaced = try await browser.submit(shown.form(.allow), to: "/oauth2/authorize/consent")
        #expect(misplaced.status == .forbidden)
        _ = try await browser.confirm(.allow, on: page).code
        #expect((try? await browser.confirm(.allow, on: page).code) == nil)

        let second = try await browser.open(attempt.url)
        try await test.change(attempt.client) { $0.policy.isFirstParty = false }
        #expect((try? await browser.confirm(.allow, on: second).code) == nil)
        _ = try await browser.open(attempt.url).consentPage

        let consent = try await browser.open(Attempt(test).url).consentPage
        let crossed = try await browser.submit(consent.form(.allow), to: "/oauth2/authorize/continue")
        #expect(crossed.status == .forbidden)
    }

    // Every combination: only https is safe.
    @Test(arguments: ClientType.allCases)
    func `no policy makes a loopback URI or a private-use scheme safe`(type: ClientType) async throws {
        for address in Self.unassured {
            let test = try await TestServer()
            let attempt = try await Self.attempt(test, at: address, type: type)
            let assurance = ClientAssurance(
                of: attempt.client, at: try RedirectURI(address.requested), isAtCallbackOrigin: false)
            #expect(assurance == nil)
        }
    }
}
