import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The offer of a first passkey after a sign-in with a password.
struct PasskeyOfferTests {
    /// The ways to sign in that offer a passkey.
    enum Door: CaseIterable {
        case authorization, console

        fileprivate func open(_ browser: inout ScriptedUserAgent, at test: TestServer) async throws -> Reply {
            switch self {
            case .authorization: try await browser.open(Attempt(test).with("prompt", "login").url)
            case .console: try await browser.open("/sign-in?to=%2Faccount%2Fsessions")
            }
        }

        fileprivate func expectArrival(_ reply: Reply) throws {
            switch self {
            case .authorization: _ = try reply.consentPage
            case .console: #expect(reply.page is SessionsPage)
            }
        }
    }

    private static func events(_ test: TestServer) async throws -> [String] {
        try await test.store.audit(AuditQuery(kind: .account)).compactMap(\.event.detail)
    }

    @Test(arguments: Door.allCases)
    func `a user who declines continues, and is never asked again`(door: Door) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let offer = try await browser.signInWherePasskeysWork(on: try await door.open(&browser, at: test))
        let page = try offer.passkeyOfferPage
        #expect(page.question.door.rawValue == "\(door)" && page.problem == nil)
        #expect(page.options.contains(#""userVerification":"required""#))
        #expect(page.upgradeOptions.contains(#""userVerification":"preferred""#))
        let html = try offer.html()
        #expect(html.contains("Sign in faster next time?") && html.contains(#"data-mediation="conditional""#))
        try door.expectArrival(try await browser.submit(page.form(.later), to: page.action))
        #expect(try await test.store.passkeys(of: test.alice.id).isEmpty)
        #expect(try await Self.events(test).contains("offered a passkey"))
        // The page can be shown again from the history.
        try door.expectArrival(try await browser.submit(page.form(.later), to: page.action))
        var other = test.browser()
        try door.expectArrival(try await other.signInWherePasskeysWork(on: try await door.open(&other, at: test)))
    }

    @Test(arguments: Door.allCases, [false, true])
    func `a passkey that is created signs in from then on, and the request continues`(
        door: Door, isUpgrade: Bool
    ) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let offer = try await browser.signInWherePasskeysWork(on: try await door.open(&browser, at: test))
        var passkey = TestPasskey()
        // Without a question, the browser has verified no user (WebAuthn §7.1 step 15).
        if isUpgrade { passkey.flags = 0x18 }
        try door.expectArrival(try await browser.create(&passkey, on: offer, isUpgrade: isUpgrade))
        #expect(try await test.store.passkeys(of: test.alice.id).count == 1)
        let event = try #require(try await test.store.audit(AuditQuery(kind: .passkey, limit: 1)).first?.event)
        #expect(event.detail == "added" && event.outcome == .done)
        passkey.flags = 0x1D
        var other = test.browser()
        try door.expectArrival(try await other.signIn(on: try await door.open(&other, at: test), with: passkey))
    }

    @Test func `a passkey that is not verified leaves the page, and the request can continue`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let door = Door.authorization
        let offer = try await browser.signInWherePasskeysWork(on: try await door.open(&browser, at: test))
        var foreign = TestPasskey(at: "https://evil-id.example.com")
        let refused = try await browser.create(&foreign, on: offer)
        #expect(refused.status == .badRequest)
        let again = try refused.passkeyOfferPage
        #expect(again.problem?.hasPrefix("The passkey could not be verified.") == true)
        #expect(try again.clientName == offer.passkeyOfferPage.clientName && again.clientName != nil)
        #expect(try !refused.html().contains(#"data-mediation="conditional""#))
        // Without user verification, it is no upgrade, either.
        var unverified = TestPasskey()
        unverified.flags = 0x18
        #expect(try await browser.create(&unverified, on: refused).status == .badRequest)
        // A refusal of what the user has not asked for is silent.
        try door.expectArrival(try await browser.create(&foreign, on: offer, isUpgrade: true))
        try door.expectArrival(try await browser.submit(again.form(.later), to: again.action))
        #expect(try await test.store.passkeys(of: test.alice.id).isEmpty)
    }

    /// A sign-in after which something else comes first, or nothing is offered.
    enum Reason: CaseIterable {
        case browserCannot, passkey, newTerms, strongerSignIn, preferredSignIn, recentSignIn, onlyOtherUsers
    }

    @Test(arguments: Reason.allCases)
    func `a user who has one, or of whom something else is asked first, gets no offer`(reason: Reason) async throws {
        let terms = try AbsoluteURI(parsing: "https://www.example.com/terms")
        let test = try await TestServer { settings in
            guard reason == .newTerms else { return }
            (settings.termsURI, settings.termsVersion) = (terms, "1")
        }
        var browser = test.browser()
        var attempt = Attempt(test, for: "openid").with("prompt", "login")
        switch reason {
        case .browserCannot, .newTerms: break
        case .passkey:
            var passkey = TestPasskey()
            try await browser.signInToConsole(username: "alice")
            try await browser.add(&passkey)
        case .strongerSignIn:
            attempt = attempt.with(
                "claims", #"{"id_token":{"acr":{"essential":true,"value":"urn:counterfoil:acr:passkey"}}}"#)
        case .preferredSignIn: attempt = attempt.with("acr_values", "urn:counterfoil:acr:passkey")
        case .recentSignIn: attempt = attempt.with("max_age", "600")
        case .onlyOtherUsers:
            attempt = attempt.with("claims", #"{"id_token":{"sub":{"value":"somebody-else"}}}"#)
        }
        let page = try await browser.open(attempt.url)
        let reply =
            reason == .browserCannot
            ? try await browser.signIn(on: page, username: "alice", password: TestServer.password)
            : try await browser.signInWherePasskeysWork(on: page)
        #expect(!(reply.page is PasskeyOfferPage))
        #expect(try await !Self.events(test).contains("offered a passkey"))
        guard reason != .passkey else { return }
        // The offer is not used up.
        var other = test.browser()
        if reason == .newTerms {
            let page = try reply.termsPage
            _ = try await browser.submit(page.form("accept"), to: page.action)
        }
        let console = try await other.open("/sign-in")
        _ = try await other.signInWherePasskeysWork(on: console).passkeyOfferPage
    }

    @Test func `a form that is posted twice adds one passkey, and continues both times`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let door = Door.authorization
        let page = try await browser.signInWherePasskeysWork(on: try await door.open(&browser, at: test))
            .passkeyOfferPage
        var passkey = TestPasskey()
        let form = page.form(.create, passkey: try passkey.registration(for: page.options))
        for _ in 1...2 { try door.expectArrival(try await browser.submit(form, to: page.action)) }
        #expect(try await test.store.passkeys(of: test.alice.id).count == 1)
    }

    @Test(arguments: Door.allCases)
    func `after the end of the session, the form leads to a sign-in for the same request`(door: Door) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.signInWherePasskeysWork(on: try await door.open(&browser, at: test))
            .passkeyOfferPage
        _ = try await test.store.signOutEverywhere(test.alice.id, except: nil, at: test.clock.now, recording: [])
        let again = try await browser.submit(page.form(.later), to: page.action)
        #expect(again.page is SignInPage)
        try door.expectArrival(
            try await browser.signIn(on: again, username: "alice", password: TestServer.password))
    }

    @Test func `the offer follows the second factor`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let app = try await test.setUpSecondFactor(in: &browser).app
        var other = test.browser()
        let door = Door.authorization
        let code = try await other.signInWherePasskeysWork(on: try await door.open(&other, at: test))
        _ = try code.codePage
        let offer = try await other.enter(test.code(of: app), on: code)
        try door.expectArrival(
            try await other.submit(try offer.passkeyOfferPage.form(.later), to: offer.passkeyOfferPage.action))
    }

    @Test func `a form of another session, page or request creates nothing`() async throws {
        let test = try await TestServer()
        let bob = try await test.addUser("bob")
        var (browser, thief) = (test.browser(), test.browser())
        let offer = try await browser.signInWherePasskeysWork(on: try await browser.open("/sign-in"))
        try await thief.signInToConsole(username: "bob")
        var passkey = TestPasskey()
        #expect(try await thief.create(&passkey, on: offer).status == .forbidden)
        let page = try offer.passkeyOfferPage
        let genuine = page.form(.create, passkey: try passkey.registration(for: page.options))
        var form = FormParameters(genuine.pairs.filter { $0.name != "request" })
        form.append("request", "/account/sessions")
        #expect(try await browser.submit(form, to: page.action).status == .forbidden)
        // After the end of the session, the user signs in again.
        _ = try await test.store.signOutEverywhere(test.alice.id, except: nil, at: test.clock.now, recording: [])
        #expect(try await browser.create(&passkey, on: offer).page is SignInPage)
        for user in [test.alice, bob] { #expect(try await test.store.passkeys(of: user.id).isEmpty) }
    }
}
