import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The page with the sign-ins and the changes of an account.
struct AccountActivityTests {
    private static func signedIn(_ test: TestServer, source: String = "192.0.2.1") async throws -> ScriptedUserAgent {
        var browser = test.browser(source: source)
        try await browser.signInToConsole(username: "alice")
        return browser
    }

    private static func texts(_ browser: inout ScriptedUserAgent) async throws -> [String] {
        try await browser.open("/account/activity").activityPage.rows.map(\.what)
    }

    @Test func `a user sees the own sign-ins and changes, with their places, newest first`() async throws {
        let test = try await TestServer()
        var stranger = test.browser(source: "203.0.113.9")
        let door = try await stranger.open("/sign-in").signInPage
        let wrong = door.form(username: "alice", password: "not the password")
        #expect(try await stranger.send(.post, to: door.action, form: wrong).status == .badRequest)
        test.clock.advance(by: 1)
        var browser = try await Self.signedIn(test, source: "198.51.100.7")
        test.clock.advance(by: 1)
        var passkey = TestPasskey()
        _ = try await browser.add(&passkey)
        test.clock.advance(by: 1)
        let sessions = try await browser.open("/account/sessions").sessionsPage
        let form = FormParameters(["ticket": sessions.ticket, "decision": "end-others"])
        _ = try await browser.send(.post, to: sessions.action, form: form)
        let reply = try await browser.open("/account/activity")
        let rows = try reply.activityPage.rows
        #expect(rows.map(\.what) == ["Signed out elsewhere", "Added a passkey", "Signed in", "A sign-in failed"])
        #expect(rows.map(\.source) == ["198.51.100.7", "198.51.100.7", "198.51.100.7", "203.0.113.9"])
        #expect(try reply.html().contains("198.51.100.7"))
        #expect(try reply.activityPage.older == nil)
        for page in ["/account", "/account/sessions"] {
            #expect(try await browser.open(page).html().contains("href=\"/account/activity\""))
        }
    }

    @Test func `the events of others are not shown, and a change by an operator is marked`() async throws {
        let test = try await TestServer()
        let bob = try await test.addUser("bob", email: "bob@example.com")
        var bobs = test.browser()
        try await bobs.signInToConsole(username: "bob")
        var browser = try await Self.signedIn(test)
        try await test.store.appendAudit(
            AuditEvent(
                at: test.clock.now + 1, .secondFactor, userID: test.alice.id, detail: "at the command line: removed"))
        for user in [bob.id, nil] {
            try await test.store.appendAudit(
                AuditEvent(at: test.clock.now + 1, .passkey, userID: user, source: "203.0.113.1", detail: "added"))
        }
        // An event of a kind that is not about the account.
        try await test.store.appendAudit(
            AuditEvent(at: test.clock.now + 1, .setting, userID: test.alice.id, detail: "changed"))
        let reply = try await browser.open("/account/activity")
        let rows = try reply.activityPage.rows
        #expect(rows.map(\.what) == ["Turned off two-step sign-in", "Signed in"])
        #expect(rows.map(\.isFromOperator) == [true, false])
        #expect(try reply.html().contains(", by an administrator"))
        var stranger = test.browser()
        #expect(try await stranger.send(.get, to: "/account/activity").location?.contains("/sign-in") == true)
    }

    @Test func `older events are on further pages, without a gap at events of the same time`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        for number in 0..<60 {
            try await test.store.appendAudit(
                AuditEvent(
                    at: test.clock.now + Double(number / 3 + 1), .passkey, userID: test.alice.id, source: "192.0.2.1",
                    detail: number.isMultiple(of: 2) ? "added" : "deleted"))
        }
        let first = try await browser.open("/account/activity").activityPage
        #expect(first.rows.count == 48)
        let older = try #require(first.older)
        // The URL names a time, and not how many events the log of the server has.
        #expect(older.wholeMatch(of: /\/account\/activity\?before=\d{16}/) != nil)
        let second = try await browser.open(older).activityPage
        #expect(second.rows.count == 13 && second.older == nil)
        #expect(second.rows.last?.what == "Signed in")
        for query in ["before=", "before=x", "before=1&before=2", "kind=account"] {
            #expect(try await browser.open("/account/activity?\(query)").activityPage.rows == first.rows)
        }
        #expect(try await browser.open("/account/activity?before=0").activityPage.rows.isEmpty)
    }

    @Test(arguments: AccountChange.allCases)
    func `each change has words of its own or those of its result`(_ change: AccountChange) async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        try await test.store.appendAudit(
            AuditEvent(at: test.clock.now + 1, change.kind, userID: test.alice.id, detail: change.detail))
        let texts = try await Self.texts(&browser)
        #expect(texts.count == 2 && texts[0] != "A change of the account was refused" && texts[0] != "Signed in")
    }
}
