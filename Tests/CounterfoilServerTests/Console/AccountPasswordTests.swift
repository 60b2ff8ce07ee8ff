import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import Foundation
import HTTPTypes
import Testing

/// A new password: only for who knows the current one, and with everything else ended.
struct AccountPasswordTests {
    private static let chosen = "a new one that nobody else has"

    private static func change(
        _ browser: inout ScriptedUserAgent, from current: String = TestServer.password, to new: String = chosen
    ) async throws -> Reply {
        let page = try await browser.open("/account/password").passwordPage
        return try await browser.send(.post, to: page.action, form: page.form(from: current, to: new))
    }

    // R333, UI-05, TK-31, SEC-74: the new password counts, this browser goes on under a new token, all else has ended.
    @Test func `a new password ends everything but this browser`() async throws {
        let test = try await TestServer()
        var elsewhere = test.browser()
        let attempt = Attempt(test)
        let waiting = try await attempt.authorize(with: &elsewhere).code
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let before = browser
        let reply = try await Self.change(&browser)
        #expect(reply.status == .seeOther)
        #expect(reply.location == "/account?done=password-changed")
        let cookie = try #require(reply.cookies.first { $0.hasPrefix("__Host-counterfoil-session=") })
        for attribute in ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
            #expect(cookie.contains(attribute))
        }
        #expect(!cookie.contains("Domain"))
        #expect(browser.cookies != before.cookies)
        let account = try await browser.open("/account?done=password-changed").accountPage
        #expect(account.notice == "Your password is changed. You are signed out everywhere else.")
        #expect(try await browser.open("/account/sessions").sessionsPage.rows.count == 1)

        var old = before
        #expect(try await old.open("/account").signInPage.problem == nil)
        #expect(try await elsewhere.open("/account").signInPage.problem == nil)
        #expect(try await test.redeem(attempt.exchange(waiting)).tokenError.error == "invalid_grant")

        var again = test.browser()
        let refused = try await again.signInToConsole(username: "alice")
        #expect(refused.status == .badRequest)
        #expect(try await again.signInToConsole(username: "alice", password: Self.chosen).accountPage.notice == nil)
    }

    // R330: the page asks for the current one, and neither comes back.
    @Test(arguments: ["", "wrong", TestServer.password + " ", String(repeating: "x", count: 5000)])
    func `without the current password nothing changes`(current: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let reply = try await Self.change(&browser, from: current)
        #expect(reply.status == .badRequest)
        let page = try reply.passwordPage
        #expect(page.problems.map(\.field) == ["current_password"])
        #expect(page.current.problem != nil && page.new.problem == nil)
        #expect(page.current.value.isEmpty && page.new.value.isEmpty)
        #expect(reply.cookies.isEmpty)
        #expect(try await test.store.person(test.alice.id)?.passwordHash == test.alice.passwordHash)
        #expect(try await browser.open("/account").accountPage.person.username == "alice")
    }

    // R330: what cannot be a password; no rule says of which characters it is made.
    @Test(arguments: [
        "", "short", "1234567", String(repeating: "x", count: 1025), TestServer.password, "password", "PASSWORD1",
        "12345678", "qwertyuiop", "iloveyou", "qwerty123456", "1234567aa", "greyhoun", "sunshine", "1qaz2wsx",
        "P@ssw0rd", "aaaaaaaa", "abcabcabc",
    ])
    func `a password that everybody would try is refused`(new: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let reply = try await Self.change(&browser, to: new)
        #expect(reply.status == .badRequest)
        #expect(try reply.passwordPage.problems.map(\.field) == ["new_password"])
        #expect(try await test.store.person(test.alice.id)?.passwordHash == test.alice.passwordHash)
    }

    // R330
    @Test(arguments: [
        "onlysmallletters", "73918462", "        x         ", "слова которых никто не ставит рядом", "🦊🦊🐢🌲🚲🪁🧭🪨",
        String(repeating: "long and odd ", count: 70),
    ])
    func `a password needs no kind of character`(new: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        #expect(try await Self.change(&browser, to: new).status == .seeOther)
        var other = test.browser()
        #expect(try await other.signInToConsole(username: "alice", password: new).accountPage.notice == nil)
    }

    // SEC-52
    // Whoever has stolen a session guesses no faster here than at the sign-in page, and both count together.
    @Test func `wrong current passwords are slowed down as at the sign-in page`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        var judged = 0
        for _ in 0..<100 {
            let reply = try await Self.change(&browser, from: "wrong")
            if reply.status == .badRequest {
                judged += 1
            } else {
                #expect(reply.status == .tooManyRequests)
                #expect(Int(reply.fields[.retryAfter] ?? "") ?? 0 > 0)
                #expect(try reply.passwordPage.problems.first?.text.contains("Try again in") == true)
            }
            test.clock.advance(by: 5)
        }
        #expect(judged <= 10)
        #expect(try await Self.change(&browser).status == .tooManyRequests)
        var other = test.browser()
        #expect(try await other.signInToConsole(username: "alice").status == .tooManyRequests)
        #expect(try await test.store.person(test.alice.id)?.passwordHash == test.alice.passwordHash)
        test.clock.advance(by: 900)
        #expect(try await Self.change(&browser).status == .seeOther)
    }

    // SEC-52
    // Guesses at the sign-in page count here, too.
    @Test func `wrong passwords at the sign-in page slow the change down`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        for _ in 0..<5 {
            var other = test.browser(source: "203.0.113.9")
            _ = try await other.signInToConsole(username: "alice", password: "wrong")
        }
        #expect(try await Self.change(&browser).status == .tooManyRequests)
    }

    // Whichever name was tried there; to the person themself it is said.
    @Test func `wrong passwords under the e-mail address slow the change down`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        for _ in 0..<10 {
            var other = test.browser(source: "203.0.113.9")
            #expect(
                try await other.signInToConsole(username: "alice@example.com", password: "wrong").status == .badRequest)
            test.clock.advance(by: 20)
        }
        let reply = try await Self.change(&browser)
        #expect(reply.status == .tooManyRequests)
        #expect(Int(reply.fields[.retryAfter] ?? "") == 700)
        test.clock.advance(by: 700)
        #expect(try await Self.change(&browser).status == .seeOther)
    }

    // Of two changes from the same former password one counts.
    @Test func `a change that comes second changes nothing`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        var second = test.browser()
        try await browser.signInToConsole(username: "alice")
        try await second.signInToConsole(username: "alice")
        let page = try await second.open("/account/password").passwordPage
        #expect(try await Self.change(&browser).status == .seeOther)
        let late = try await second.send(
            .post, to: page.action, form: page.form(from: TestServer.password, to: "another that nobody has"))
        // Its session has ended with the first change.
        #expect(late.status == .seeOther)
        #expect(late.location?.contains("/sign-in?") == true)
        var other = test.browser()
        #expect(try await other.signInToConsole(username: "alice", password: Self.chosen).accountPage.notice == nil)
    }

    // When the store fails, neither the password nor the session is another, and no session is left over.
    @Test func `a change that the store does not keep leaves everything as it was`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        store.fail(.changePassword)
        let reply = try await Self.change(&browser)
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.cookies.isEmpty)
        store.recover()
        #expect(try await browser.open("/account/sessions").sessionsPage.rows.count == 1)
        #expect(try await Self.change(&browser).status == .seeOther)
    }

    // The list covers the ways in which most people choose, for every account that is made.
    @Test(arguments: [
        "password123", "Passw0rd!", "football1", "Summer2024", "letmein123", "dragon12", "michael1", "qwerty123",
        "1q2w3e4r5t", "zaq12wsx", "abcd1234", "11223344", "trustno1", "superman", "welcome1", "admin123", "monkey123",
        "changeme", "147258369", "987654321", "asdfghjkl", "blink182", "starwars", "liverpool", "00000000",
    ])
    func `well-known passwords are on the list`(text: String) throws {
        let username = try #require(Username("carol"))
        #expect(throws: Password.Refusal.common) { try Password(choosing: text, for: username) }
    }
}

extension PasswordPage {
    /// The fields that the page's form sends.
    func form(from current: String, to new: String) -> FormParameters {
        FormParameters([
            "ticket": ticket, "username": username, "current_password": current, "new_password": new,
        ])
    }
}
