import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The terms of the service, which users accept in their current version.
struct TermsTests {
    private static func server(_ version: String = "1") async throws -> TestServer {
        let uri = try AbsoluteURI(parsing: "https://www.example.com/terms")
        return try await TestServer { settings in
            settings.termsURI = uri
            settings.termsVersion = version
        }
    }

    private static func change(_ test: TestServer, to version: String) {
        var settings = test.server.settings
        settings.termsVersion = version
        test.server.replaceSettings(by: settings)
    }

    private static func accepted(_ test: TestServer) async throws -> AcceptedTerms? {
        try await test.store.user(test.alice.id)?.acceptedTerms
    }

    /// The ways to sign in.
    enum Door: CaseIterable {
        case authorization, console, device

        fileprivate func open(_ browser: inout ScriptedUserAgent, at test: TestServer) async throws -> Reply {
            switch self {
            case .authorization: try await browser.open(Attempt(test).url)
            case .console: try await browser.open("/account/sessions")
            case .device: try await browser.type(userCode: try await TestDevice(test).codes().userCode)
            }
        }
    }

    @Test(arguments: Door.allCases)
    func `each way to sign in leads to the terms, and then to where the user came from`(door: Door) async throws {
        let test = try await Self.server()
        var browser = test.browser()
        let page = try await door.open(&browser, at: test)
        let asked = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        let terms = try asked.termsPage
        #expect(terms.termsURI == "https://www.example.com/terms" && terms.question.door.rawValue == "\(door)")
        #expect(try await Self.accepted(test) == nil)
        let after = try await browser.submit(terms.form("accept"), to: terms.action)
        switch door {
        case .authorization, .device: _ = try after.consentPage
        case .console: #expect(after.page is SessionsPage)
        }
        let accepted = AcceptedTerms(version: "1", acceptedAt: test.clock.now)
        #expect(try await Self.accepted(test) == accepted)
        let log = try await test.store.audit(AuditQuery(kind: .account)).map(\.event)
        #expect(log.contains { $0.detail == "accepted the terms 1" && $0.userID == test.alice.id })
        #expect(try await browser.open("/account/activity").html().contains("Terms of this service accepted"))
        // The next sign-in does not ask.
        var other = test.browser()
        let next = try await door.open(&other, at: test)
        let entered = try await other.signIn(on: next, username: "alice", password: TestServer.password)
        #expect(!(entered.page is TermsPage))
    }

    @Test func `a new version is asked for at the next request of a session, before an app gets anything`()
        async throws
    {
        let test = try await Self.server()
        let trusted = try await test.register(
            "Darkroom", type: .web, redirectURIs: ["https://darkroom.example.com/callback"], isFirstParty: true)
        let attempt = Attempt(test, by: trusted, at: "https://darkroom.example.com/callback")
        var browser = test.browser()
        var page = try await browser.signIn(
            on: try await browser.open(attempt.url), username: "alice", password: TestServer.password
        ).termsPage
        _ = try await browser.submit(page.form("accept"), to: page.action).goOnPage
        _ = try await browser.open(attempt.url).code

        Self.change(test, to: "2")
        page = try await browser.open(attempt.url).termsPage
        #expect(page.question.version == "2" && !page.question.isSignedInForThis)
        let silent = try await browser.open(attempt.with("prompt", "none").url).redirectedError
        #expect(silent.code == .interactionRequired)
        #expect(try await browser.open("/account").page is TermsPage)
        // The page was shown before a third version.
        Self.change(test, to: "3")
        let outdated = try await browser.submit(page.form("accept"), to: page.action)
        #expect(try outdated.termsPage.question.version == "3")
        #expect(try await Self.accepted(test)?.version == "1")
        page = try outdated.termsPage
        _ = try await browser.submit(page.form("accept"), to: page.action).goOnPage
        #expect(try await Self.accepted(test)?.version == "3")
    }

    @Test func `a consent that was shown before a new version is not recorded`() async throws {
        let test = try await Self.server()
        _ = try await test.store.acceptTerms(
            AcceptedTerms(version: "1", acceptedAt: test.clock.now), by: test.alice.id, recording: [])
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        let consent = try await browser.signIn(on: page, username: "alice", password: TestServer.password).consentPage
        Self.change(test, to: "2")
        let form = FormParameters(["request": consent.request, "ticket": consent.ticket, "decision": "allow"])
        let reply = try await browser.submit(form, to: consent.action)
        _ = try reply.termsPage
        #expect(try await test.store.consent(of: test.alice.id, to: test.lightbox.id) == nil)
    }

    @Test func `a user who declines at the request of an app gives it access_denied`() async throws {
        let test = try await Self.server()
        var browser = test.browser()
        let page = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: "alice", password: TestServer.password
        ).termsPage
        let declined = try await browser.submit(page.form("decline"), to: page.action)
        #expect(try declined.goOnPage.destination.contains("error=access_denied"))
        #expect(try await Self.accepted(test) == nil)
        let log = try await test.store.audit(AuditQuery(kind: .account)).map(\.event)
        #expect(log.contains { $0.reason == .terms && $0.userID == test.alice.id })
    }

    @Test func `a user who declines in the console is signed out, and can always sign out`() async throws {
        let test = try await Self.server()
        var browser = test.browser()
        let page = try await browser.signIn(
            on: try await browser.open("/account"), username: "alice", password: TestServer.password
        ).termsPage
        _ = try await browser.submit(page.form("decline"), to: page.action).signInPage
        #expect(try await test.store.sessions(of: test.alice.id).isEmpty)
        #expect(try await Self.accepted(test) == nil)
    }

    @Test func `a forged form accepts nothing`() async throws {
        let test = try await Self.server()
        var browser = test.browser()
        let page = try await browser.signIn(
            on: try await browser.open("/account"), username: "alice", password: TestServer.password
        ).termsPage
        let form = page.form("accept")
        for (field, value) in [
            ("ticket", "forged"), ("version", "2"), ("door", "device"), ("recent", "true"), ("request", "/admin"),
        ] {
            let reply = try await browser.send(.post, to: page.action, form: form.setting(field, to: value))
            #expect(reply.status == .forbidden, "\(field)")
        }
        #expect(try await browser.send(.get, to: page.action + "?decision=accept").status == .ok)
        #expect(try await Self.accepted(test) == nil)
        // Another user has signed in since the page was shown.
        _ = try await test.addUser("bob")
        var other = test.browser()
        let stolen = try await other.signIn(
            on: try await other.open("/account"), username: "bob", password: TestServer.password)
        _ = try stolen.termsPage
        #expect(try await other.send(.post, to: page.action, form: form).status == .forbidden)
    }

    @Test func `the page leads to no other site`() async throws {
        let test = try await Self.server()
        var browser = test.browser()
        let page = try await browser.signIn(
            on: try await browser.open("/account"), username: "alice", password: TestServer.password
        ).termsPage
        for target in ["https://evil.example/", "//evil.example", "/\\evil.example", "/oauth2/logout"] {
            let query = FormParameters(["to": target]).encoded
            let shown = try await browser.open("/terms?" + query).termsPage
            let reply = try await browser.send(.post, to: page.action, form: shown.form("accept"))
            #expect(reply.location?.hasPrefix("/sign-in") == true)
            let end = try await browser.open(try #require(reply.location))
            #expect(end.page is AccountPage)
            _ = try await test.store.acceptTerms(
                AcceptedTerms(version: "0", acceptedAt: test.clock.now), by: test.alice.id, recording: [])
        }
    }

    @Test func `a refresh token continues after a new version`() async throws {
        let test = try await Self.server()
        _ = try await test.store.acceptTerms(
            AcceptedTerms(version: "1", acceptedAt: test.clock.now), by: test.alice.id, recording: [])
        let client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1:51004/callback"], scope: "openid offline_access")
        let tokens = try await Attempt(test, by: client, for: "openid offline_access").tokens()
        Self.change(test, to: "2")
        let refreshed = await test.redeem(
            FormParameters([
                "grant_type": "refresh_token", "client_id": client.id.rawValue,
                "refresh_token": try #require(tokens.refreshToken).exposed,
            ]))
        #expect(refreshed.status == .ok)
    }

    @Test func `a new account accepts the terms that the page showed`() async throws {
        let uri = try AbsoluteURI(parsing: "https://www.example.com/terms")
        let test = try await TestServer { settings in
            settings.signUp = .invited
            settings.termsURI = uri
            settings.termsVersion = "1"
        }
        let (_, path) = try await test.invite()
        var browser = test.browser()
        let page = try await browser.open(path).newAccountPage
        let refused = try await browser.submit(page.form("bob", acceptingTerms: false), to: page.action)
        #expect(try refused.newAccountPage.wrongField == .terms)
        Self.change(test, to: "2")
        let outdated = try await browser.submit(page.form("bob"), to: page.action)
        #expect(try outdated.newAccountPage.wrongField == .terms)
        let current = try outdated.newAccountPage
        _ = try await browser.submit(current.form("bob"), to: current.action).accountPage
        let name = try #require(Username("bob"))
        let user = try #require(try await test.store.user(named: name))
        #expect(user.acceptedTerms == AcceptedTerms(version: "2", acceptedAt: test.clock.now))
    }

    @Test func `a server without terms has no page`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        #expect(try await browser.open("/terms").status == .notFound)
    }
}
