import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The cases in which an earlier consent is used, and those in which the user is asked each time.
struct RememberedConsentTests {
    private static let web = "https://darkroom.example/cb"

    /// A kind of client, and whether consent to it is remembered.
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let type: ClientType
        let registered: String
        var sent: String?
        var isClaimedHTTPSVerified = false
        var isVouchedFor = true
        let isRemembered: Bool

        var testDescription: String { name }
    }

    private static let kinds = [
        Kind(name: "web", type: .web, registered: web, isRemembered: true),
        Kind(
            name: "claimed https", type: .native, registered: web, isClaimedHTTPSVerified: true, isRemembered: true),
        Kind(name: "unverified https", type: .native, registered: web, isRemembered: false),
        Kind(
            name: "private-use scheme of a verified application", type: .native, registered: "com.example.app:/cb",
            isClaimedHTTPSVerified: true, isRemembered: false),
        Kind(
            name: "loopback", type: .native, registered: "http://127.0.0.1/cb", sent: "http://127.0.0.1:4000/cb",
            isRemembered: false),
        Kind(
            name: "loopback of a verified application", type: .native, registered: "http://127.0.0.1/cb",
            sent: "http://127.0.0.1:4000/cb", isClaimedHTTPSVerified: true, isRemembered: false),
        Kind(
            name: "single page that an administrator vouches for", type: .singlePage, registered: web,
            isRemembered: true),
        Kind(
            name: "single page on a verified host", type: .singlePage, registered: web, isClaimedHTTPSVerified: true,
            isVouchedFor: false, isRemembered: true),
        Kind(
            name: "unverified single page", type: .singlePage, registered: web, isVouchedFor: false,
            isRemembered: false),
        Kind(
            name: "single page on the device itself", type: .singlePage, registered: "http://localhost/cb",
            sent: "http://localhost:5173/cb", isClaimedHTTPSVerified: true, isRemembered: false),
        Kind(
            name: "single page on the device itself", type: .singlePage, registered: "http://localhost:5173/cb",
            isRemembered: false),
        Kind(
            name: "web on the device itself", type: .web, registered: "http://127.0.0.1/cb",
            sent: "http://127.0.0.1:4000/cb", isRemembered: false),
    ]

    private static func attempt(
        _ kind: Kind, _ test: TestServer, for scope: String? = "openid photos.read"
    ) async throws -> Attempt {
        var policy = ClientPolicy.standard(for: kind.type)
        policy.isVouchedFor = kind.isVouchedFor
        policy.requiresState = false
        policy.isClaimedHTTPSVerified = kind.isClaimedHTTPSVerified
        let client = try await test.register(
            "Darkroom", type: kind.type, redirectURIs: [kind.registered], optionalScope: "photos.write", policy: policy)
        return Attempt(test, by: client, at: kind.sent ?? kind.registered, for: scope)
    }

    private static func web(_ test: TestServer, for scope: String? = "openid photos.read") async throws -> Attempt {
        try await attempt(kinds[0], test, for: scope)
    }

    // RFC 8252 §8.6
    @Test(arguments: kinds)
    func `a consent is remembered only if the identity of the client is assured`(kind: Kind) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Self.attempt(kind, test).authorize(with: &browser)
        let again = try await Self.attempt(kind, test)
        let reply = try await browser.open(again.url)
        let silent = try await browser.open(again.with("prompt", "none").url)
        if kind.isRemembered {
            #expect(reply.status == .seeOther)
            #expect(try reply.code.exposed.utf8.count == 43)
            #expect(try silent.code.exposed.utf8.count == 43)
        } else {
            #expect(try reply.consentPage.earlierConsent == "You allowed this on 15 January 2027.")
            #expect(try silent.redirectedError.code == .consentRequired)
        }
    }

    // The code of a remembered consent gives valid tokens.
    @Test func `a remembered consent gives a code that can be redeemed`() async throws {
        let test = try await TestServer()
        let secret = ClientSecret()
        let client = try await test.register(
            "Album", type: .web, at: [Self.web], under: ClientPolicy(isVouchedFor: true, requiresState: false),
            secret: secret)
        var browser = test.browser()
        _ = try await Attempt(test, by: client, at: Self.web, for: "photos.read photos.write")
            .authorize(with: &browser)
        let attempt = Attempt(test, by: client, at: Self.web)
        let code = try await browser.open(attempt.url).code
        let tokens = try await test.redeem(
            attempt.exchange(code).adding("client_secret", secret.exposed)
        ).tokenResponse
        #expect(tokens.scope?.description == "photos.read")
    }

    // Signing in again keeps the consent.
    @Test func `a remembered consent also applies right after a sign-in`() async throws {
        let test = try await TestServer()
        _ = try await Self.web(test).authorize()
        let (_, reply) = try await Self.web(test).afterSignIn()
        #expect(try reply.goOnPage.kind == .allowed(codeLifetime: 60))
    }

    // A consent belongs to one user.
    @Test func `another user is asked for consent`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        _ = try await Self.web(test).authorize()
        var browser = test.browser()
        let first = try await browser.open(try await Self.web(test).url)
        let page = try await browser.signIn(on: first, username: "bob", password: TestServer.password).consentPage
        #expect(page.earlierConsent == nil)
        #expect(page.permissions.allSatisfy { !$0.isNew })
    }

    // OpenID Connect Core §3.1.2.1
    @Test func `a client can request consent each time`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Self.web(test).authorize(with: &browser)
        let page = try await browser.open(try await Self.web(test).with("prompt", "consent").url).consentPage
        #expect(page.earlierConsent == "You allowed this on 15 January 2027.")
    }

    // More scopes are requested, and marked.
    @Test func `a new scope is asked for and marked as new`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Self.web(test).authorize(with: &browser)
        let more = try await Self.web(test, for: "openid photos.read photos.write")
        #expect(try await browser.open(more.with("prompt", "none").url).redirectedError.code == .consentRequired)
        let reply = try await browser.open(more.url)
        let page = try reply.consentPage
        #expect(page.permissions.map(\.isNew) == [true])
        #expect(page.allowedBefore.map(\.scope) == ["openid", "photos.read"])
        #expect(page.earlierConsent == "You allowed some of this on 15 January 2027.")
        #expect(try reply.html().matches(of: /<span class="badge new">new<\/span>/).count == 1)

        // A scope that was left out is not remembered; without it, the user is not asked.
        _ = try await browser.decide(.allow, on: reply, leavingOut: ["photos.write"])
        #expect(try await browser.open(more.url).consentPage.permissions.map(\.isNew) == [true])
        #expect(try await browser.open(try await Self.web(test).url).status == .seeOther)
    }

    // Everything by which a user recognizes a client.
    @Test(arguments: ["name", "publisher", "logo", "text", "privacy", "terms", "redirect"])
    func `a change of the client's appearance invalidates the consent`(what: String) async throws {
        let test = try await TestServer()
        let attempt = try await Self.web(test)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)
        let uri = try AbsoluteURI(parsing: "https://new.example/")
        let redirectURI = try RedirectURI("https://new.example/cb")
        let logo = LogoChange.replace(Logo(format: .png, bytes: [0x89, 0x50, 0x4E, 0x47]))
        try await test.change(attempt.client, logo: what == "logo" ? logo : .keep) { client in
            switch what {
            case "logo": break
            case "name": client.presentation.name = "Lightroom"
            case "publisher": client.presentation.publisher = "Somebody else"
            case "text": client.presentation.consentText = "Now with more *advertising*"
            case "privacy": client.presentation.privacyURI = uri
            case "terms": client.presentation.termsURI = uri
            default: client.redirectURIs.append(redirectURI)
            }
        }
        #expect(try await browser.open(attempt.with("prompt", "none").url).redirectedError.code == .consentRequired)
        test.clock.advance(by: 86_400)
        let (_, reply) = try await attempt.afterSignIn()
        #expect(try reply.consentPage.earlierConsent == "It has changed since you allowed it on 15 January 2027.")
        _ = try await browser.authorize(attempt.url, username: "alice", password: TestServer.password)
        #expect(try await browser.open(attempt.url).status == .seeOther)
    }

    // Users do not see a policy.
    @Test func `a change of the policy alone keeps the consent`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.web(test)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)
        try await test.change(attempt.client) { $0.policy.accessTokenLifetime = 120 }
        #expect(try await browser.open(attempt.url).status == .seeOther)
    }

    // A client that is no longer verified is asked about again.
    @Test(arguments: kinds.filter(\.isClaimedHTTPSVerified).filter(\.isRemembered))
    func `without the verification the user is asked again`(kind: Kind) async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(kind, test)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)
        #expect(try await browser.open(attempt.url).status == .seeOther)
        try await test.change(attempt.client) { $0.policy.isClaimedHTTPSVerified = false }
        #expect(try await browser.open(attempt.url).consentPage.earlierConsent != nil)
    }

    // A revoked scope is not remembered.
    @Test func `a revoked scope is asked for again`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.web(test)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)
        let outcome = try await test.store.narrowConsent(
            of: test.alice.id, to: attempt.client.id, keeping: Scope(), at: test.clock.now)
        #expect(outcome == .narrowed)
        #expect(try await browser.open(attempt.url).consentPage.earlierConsent == nil)
    }

    // A consent that decides nothing is not read.
    @Test func `a consent is read only if it is needed`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let client = try await test.register("Album", redirectURIs: [Self.web], isFirstParty: true)
        _ = try await Attempt(test, by: client, at: Self.web).authorize()
        #expect(store.calls(of: .consent) == 0)
        _ = try await Attempt(test).firstReply()
        #expect(store.calls(of: .consent) == 0)
    }
}
