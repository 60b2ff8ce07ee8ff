import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The sessions of a user: listing and ending.
struct AccountSessionTests {
    private static let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

    private static func signedIn(
        _ name: String, to test: TestServer, source: String = "192.0.2.1", agent: String = firefox
    ) async throws -> ScriptedUserAgent {
        var browser = test.browser(source: source)
        browser.fields[.userAgent] = agent
        try await browser.signInToConsole(username: name)
        return browser
    }

    private static func isSignedIn(_ browser: ScriptedUserAgent) async throws -> Bool {
        var browser = browser
        if try await browser.open("/account").page is AccountPage { return true }
        return false
    }

    // The page shows where the user is signed in, and which session is this browser's.
    @Test func `the sessions of a user are listed with device and place`() async throws {
        let test = try await TestServer()
        _ = try await Self.signedIn(
            "alice", to: test, source: "198.51.100.7",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
                + "Version/18.5 Mobile/15E148 Safari/604.1")
        test.clock.advance(by: 2 * 3600)
        var browser = try await Self.signedIn("alice", to: test)
        let page = try await browser.open("/account/sessions").sessionsPage
        #expect(page.rows.map(\.device) == ["Firefox on Linux", "Safari on iPhone"])
        #expect(page.rows.map(\.source) == ["192.0.2.1", "198.51.100.7"])
        #expect(page.rows.map(\.isCurrent) == [true, false])
        #expect(page.rows.map(\.lastSeen) == ["just now", "2 hours ago"])
        #expect(page.hasOthers)
    }

    @Test func `the page says until when a session stays that the user chose to keep`() async throws {
        let test = try await TestServer { $0.sessionLifetime = 30 * 86_400 }
        _ = try await Self.signedIn("alice", to: test)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice", stayingSignedIn: true)
        let end = Localizer.english.date(test.clock.now + 30 * 86_400)
        test.clock.advance(by: 3600)
        let reply = try await browser.open("/account/sessions")
        #expect(try reply.sessionsPage.rows.map(\.staysUntil) == [end, nil])
        let html = try reply.html()
        #expect(html.components(separatedBy: "Stays signed in until ").count == 2)
        #expect(html.contains("Stays signed in until <bdi>\(end)</bdi> at the latest"))
    }

    // Idle and expired sessions are not sessions any more.
    @Test func `expired sessions are not listed`() async throws {
        let test = try await TestServer()
        _ = try await Self.signedIn("alice", to: test)
        test.clock.advance(by: 7 * 3600)
        var browser = try await Self.signedIn("alice", to: test)
        #expect(try await browser.open("/account/sessions").sessionsPage.rows.count == 2)
        test.clock.advance(by: 2 * 3600)
        let page = try await browser.open("/account/sessions").sessionsPage
        #expect(page.rows.map(\.isCurrent) == [true])
        #expect(!page.hasOthers)
    }

    @Test func `a fiftieth session ends none, and each further one ends the least recently used`() async throws {
        let test = try await TestServer()
        let first = try await Self.signedIn("alice", to: test)
        let second = try await Self.signedIn("alice", to: test)
        for number in 2..<50 {
            let session = Session(
                digest: ArtefactDigest(of: SessionToken()), userID: test.alice.id,
                authenticatedAt: test.clock.now + 1, lastSeenAt: test.clock.now + Double(number),
                expiresAt: test.clock.now + 3600)
            #expect(
                try await test.store.beginSession(
                    session, proving: .password(try #require(test.alice.passwordHash)), replacing: nil)
                    == .begun(session.id))
        }
        test.clock.advance(by: 61)
        #expect(try await Self.isSignedIn(first))
        var browser = try await Self.signedIn("alice", to: test)
        #expect(try await browser.open("/account/sessions").sessionsPage.rows.count == Session.limitPerUser)
        #expect(try await Self.isSignedIn(first))
        #expect(try await !Self.isSignedIn(second))
    }

    // A session ends on the server, whatever cookie the browser keeps.
    @Test func `ending a session signs that browser out`() async throws {
        let test = try await TestServer()
        let phone = try await Self.signedIn("alice", to: test)
        let other = try await Self.signedIn("alice", to: test)
        var browser = try await Self.signedIn("alice", to: test)
        let page = try await browser.open("/account/sessions").sessionsPage
        let row = try #require(page.rows.first { !$0.isCurrent })
        let reply = try await browser.send(.post, to: page.action, form: page.form("end", row.id))
        #expect(reply.location == "/account/sessions?done=session-ended")
        let both = [try await Self.isSignedIn(phone), try await Self.isSignedIn(other)]
        #expect(both.filter { $0 }.count == 1)
        #expect(try await Self.isSignedIn(browser))
        let again = try await browser.send(.post, to: page.action, form: page.form("end", row.id))
        #expect(again.location == "/account/sessions?done=session-over")
    }

    @Test func `ending all other sessions keeps this one`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        let bob = try await Self.signedIn("bob", to: test)
        let others = [try await Self.signedIn("alice", to: test), try await Self.signedIn("alice", to: test)]
        var browser = try await Self.signedIn("alice", to: test)
        let page = try await browser.open("/account/sessions").sessionsPage
        let reply = try await browser.submit(page.form("end-others"), to: page.action)
        #expect(
            try reply.sessionsPage.notice
                == "You are signed out in all other browsers, and in the apps that you signed in to elsewhere.")
        #expect(try reply.sessionsPage.rows.count == 1)
        for other in others { #expect(try await !Self.isSignedIn(other)) }
        #expect(try await Self.isSignedIn(browser))
        #expect(try await Self.isSignedIn(bob))
    }

    @Test func `the page says that the user is signed in only here as long as no app has a token`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let attempt = Attempt(test, for: "openid photos.read")
        let code = try await attempt.authorize(with: &browser).code
        let before = try await browser.open("/account/sessions").html()
        #expect(before.contains("You are signed in to <bdi>Example Photos</bdi> only here: in no other browser"))
        _ = try await test.redeem(attempt.exchange(code)).tokenResponse
        let after = try await browser.open("/account/sessions").html()
        #expect(!after.contains("only here"))
        #expect(after.contains("disconnect it:") && after.contains("<a href=\"/account\">Connected apps</a>"))
    }

    // A session of another user is not ended, and its existence is not revealed.
    @Test func `a user cannot end the session of another user`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        var bob = try await Self.signedIn("bob", to: test)
        let bobs = try #require(try await bob.open("/account/sessions").sessionsPage.rows.first)
        var browser = try await Self.signedIn("alice", to: test)
        let page = try await browser.open("/account/sessions").sessionsPage
        #expect(page.rows.count == 1)
        for id in [bobs.id, Base64URL.encode([UInt8](repeating: 1, count: 32)), "", "x", bobs.id + "A"] {
            let reply = try await browser.send(.post, to: page.action, form: page.form("end", id))
            #expect(reply.location == "/account/sessions?done=session-over")
        }
        #expect(try await browser.submit(page.form("all"), to: page.action).status == .badRequest)
        #expect(try await Self.isSignedIn(bob))
        #expect(try await Self.isSignedIn(browser))
    }

    // The identifier of a session on the page does not work as its cookie.
    @Test func `the identifier of a session on the page is not its secret`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn("alice", to: test)
        let row = try #require(try await browser.open("/account/sessions").sessionsPage.rows.first)
        var thief = test.browser()
        thief.cookies["__Host-counterfoil-session"] = row.id
        #expect(try await !Self.isSignedIn(thief))
    }

    // Signing out ends the session on the server; the page before it is not cached.
    @Test(arguments: [true, false])
    func `signing out ends the session for every holder of its cookie`(byHead: Bool) async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn("alice", to: test)
        let page = try await browser.open("/account/sessions").sessionsPage
        let copy = browser
        let reply =
            byHead
            ? try await browser.send(
                .post, to: page.console.paths.signOut, form: FormParameters(["ticket": page.console.signOutTicket]))
            : try await browser.send(
                .post, to: page.action, form: page.form("end", try #require(page.rows.first).id))
        #expect(reply.location == "/sign-in")
        #expect(reply.cookies.contains { $0.hasPrefix("__Host-counterfoil-session=;") && $0.contains("Max-Age=0") })
        #expect(try await !Self.isSignedIn(browser))
        #expect(try await !Self.isSignedIn(copy))
    }
}

extension SessionsPage {
    /// The fields of the page's forms.
    func form(_ decision: String, _ session: String? = nil) -> FormParameters {
        var form = FormParameters(["ticket": ticket, "decision": decision])
        form.append("session", ifPresent: session)
        return form
    }
}
