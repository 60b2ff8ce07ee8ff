import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Changing the password requires the current one, and ends every other session.
struct AccountPasswordTests {
    private static let chosen = "a new one that nobody else has"

    private static func change(
        _ browser: inout ScriptedUserAgent, from current: String = TestServer.password, to new: String = chosen
    ) async throws -> Reply {
        let page = try await browser.open("/account/password").passwordPage
        return try await browser.send(.post, to: page.action, form: page.form(from: current, to: new))
    }

    // The new password works, this browser gets a new session cookie,
    // everything else is revoked.
    @Test func `a new password ends everything except this browser's session`() async throws {
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
        #expect(
            account.notice
                == "Your password is changed. You are signed out in all other browsers, and apps have to ask you to "
                + "sign in again. Access that apps already hold can keep working for up to one hour.")
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

    // The session continues under a new token, in a cookie of the same kind.
    @Test(arguments: [
        (false, SessionPersistence.ticked, false), (true, .offered, true), (true, .ticked, true),
        (true, .never, false),
    ])
    func `a new password keeps the choice to stay signed in, as long as there is one`(
        chosen: Bool, later: SessionPersistence, isKept: Bool
    ) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice", stayingSignedIn: chosen)
        var settings = test.server.settings
        settings.sessionPersistence = later
        test.server.replaceSettings(by: settings)
        test.clock.advance(by: 3000)
        let reply = try await Self.change(&browser)
        let cookie = try #require(reply.cookies.first { $0.hasPrefix("__Host-counterfoil-session=") })
        #expect(cookie.contains("; Max-Age=604800;") == isKept)
        #expect(cookie.contains("Max-Age") == isKept)
        let rows = try await browser.open("/account/sessions").sessionsPage.rows
        let end = Localizer.english.date(test.clock.now + 604_800)
        #expect(rows.map(\.staysUntil) == [isKept ? end : nil])
    }

    // The page requires the current password, and neither password is sent back.
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
        #expect(try await test.store.user(test.alice.id)?.passwordHash == test.alice.passwordHash)
        #expect(try await browser.open("/account").accountPage.user.username == "alice")
    }

    // Passwords that are too short, too long or common; no rule requires kinds of characters.
    @Test(arguments: [
        "", "short", "1234567", String(repeating: "x", count: 1025), TestServer.password, "password", "PASSWORD1",
        "12345678", "qwertyuiop", "iloveyou", "qwerty123456", "1234567aa", "greyhoun", "sunshine", "1qaz2wsx",
        "P@ssw0rd", "aaaaaaaa", "abcabcabc", String(repeating: "a", count: 41), String(repeating: "1212", count: 256),
    ])
    func `a common password is refused`(new: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let reply = try await Self.change(&browser, to: new)
        #expect(reply.status == .badRequest)
        #expect(try reply.passwordPage.problems.map(\.field) == ["new_password"])
        #expect(try await test.store.user(test.alice.id)?.passwordHash == test.alice.passwordHash)
    }

    @Test(arguments: [
        "onlysmalllettersinthisone", "7391846250173", "        x  y       z  ", "слова которых никто не ставит рядом",
        "🦊🦊🐢🌲🚲🪁🧭🪨",
        String(repeating: "long and odd ", count: 70),
    ])
    func `a password needs no particular kind of character`(new: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        #expect(try await Self.change(&browser, to: new).status == .seeOther)
        var other = test.browser()
        #expect(try await other.signInToConsole(username: "alice", password: new).accountPage.notice == nil)
    }

    /// The cookie of a browser in which a user has signed in before.
    private static let earlier = "__Host-counterfoil-earlier"

    // With a stolen session, guesses are as slow as at the sign-in page, and both count together.
    @Test func `wrong current passwords are throttled as at the sign-in page`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        browser.cookies[Self.earlier] = nil
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
        #expect(try await test.store.user(test.alice.id)?.passwordHash == test.alice.passwordHash)
        test.clock.advance(by: 900)
        #expect(try await Self.change(&browser).status == .seeOther)
    }

    // The estimate of a new password takes milliseconds of processor time.
    @Test func `a new password is judged after the limit of attempts`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        for _ in 0..<5 {
            let page = try await Self.change(&browser, from: "wrong", to: "alice@example.com").passwordPage
            #expect(page.problems.map(\.field) == ["current_password"])
        }
        #expect(try await Self.change(&browser, to: "alice@example.com").status == .tooManyRequests)
        test.clock.advance(by: 1)
        let page = try await Self.change(&browser, to: "alice@example.com").passwordPage
        #expect(page.problems.map(\.text) == [Password.Refusal.guessable.description])
    }

    // In the browser of the user, the guesses of others do not count, and there are ten of its own.
    @Test func `wrong passwords at another browser do not throttle the password change`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        for _ in 0..<5 {
            var other = test.browser(source: "203.0.113.9")
            _ = try await other.signInToConsole(username: "alice", password: "wrong")
        }
        for _ in 0..<5 { #expect(try await Self.change(&browser, from: "wrong").status == .badRequest) }
        #expect(try await Self.change(&browser).status == .tooManyRequests)
        test.clock.advance(by: 1)
        #expect(try await Self.change(&browser).status == .seeOther)
    }

    // Guesses at the sign-in page also count here, if the browser has no cookie of an earlier sign-in and is in another
    // network.
    @Test func `wrong passwords at the sign-in page throttle the password change`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        browser.cookies[Self.earlier] = nil
        browser.source = "198.51.100.7"
        for _ in 0..<5 {
            var other = test.browser(source: "203.0.113.9")
            _ = try await other.signInToConsole(username: "alice", password: "wrong")
        }
        #expect(try await Self.change(&browser).status == .tooManyRequests)
    }

    // Whichever identifier was used there: the response to a signed-in user may reveal the limit per user.
    @Test func `wrong passwords for the email address throttle the password change`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        browser.cookies[Self.earlier] = nil
        browser.source = "198.51.100.7"
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

    // Otherwise a stranger could keep the user out of the browser in which the password was changed.
    @Test func `a browser and its network have guesses of their own after the password was changed there`()
        async throws
    {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        #expect(try await Self.change(&browser).status == .seeOther)
        for _ in 0..<10 {
            var other = test.browser(source: "203.0.113.9")
            _ = try await other.signInToConsole(username: "alice", password: "wrong")
            test.clock.advance(by: 20)
        }
        var elsewhere = browser
        elsewhere.source = "198.51.100.7"
        elsewhere.cookies["__Host-counterfoil-session"] = nil
        _ = try await elsewhere.signInToConsole(username: "alice", password: Self.chosen).accountPage
        var inNetwork = test.browser()
        _ = try await inNetwork.signInToConsole(username: "alice", password: Self.chosen).accountPage
        var stranger = test.browser(source: "203.0.113.9")
        #expect(
            try await stranger.signInToConsole(username: "alice", password: Self.chosen).status == .tooManyRequests)
    }

    // NIST SP 800-63B-4 §3.1.1.2: the user name and its derivatives.
    @Test(arguments: ["alice@example.com", "id.example.com alice", "aliceexample2027"])
    func `a password made of the names of the user is refused`(new: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let reply = try await Self.change(&browser, to: new)
        #expect(reply.status == .badRequest)
        #expect(try reply.passwordPage.problems.map(\.text) == [Password.Refusal.guessable.description])
    }

    // Of two changes from the same current password, one succeeds.
    @Test func `the second of two concurrent changes changes nothing`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        var second = test.browser()
        try await browser.signInToConsole(username: "alice")
        try await second.signInToConsole(username: "alice")
        let page = try await second.open("/account/password").passwordPage
        #expect(try await Self.change(&browser).status == .seeOther)
        let late = try await second.send(
            .post, to: page.action, form: page.form(from: TestServer.password, to: "another that nobody has"))
        // Its session ended with the first change.
        #expect(late.status == .seeOther)
        #expect(late.location?.contains("/sign-in?") == true)
        var other = test.browser()
        #expect(try await other.signInToConsole(username: "alice", password: Self.chosen).accountPage.notice == nil)
    }

    // If the store fails, the password and the session stay the same, and no extra session is left.
    @Test func `a change that the store fails to save changes nothing`() async throws {
        let store = TestStore()
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

    // The list covers the usual ways to choose a password, with variations for every account.
    @Test(arguments: [
        "password123", "Passw0rd!", "football1", "Summer2024", "letmein123", "dragon12", "michael1", "qwerty123",
        "1q2w3e4r5t", "zaq12wsx", "abcd1234", "11223344", "trustno1", "superman", "welcome1", "admin123", "monkey123",
        "changeme", "147258369", "987654321", "asdfghjkl", "blink182", "starwars", "liverpool", "00000000",
    ])
    func `common passwords are on the list`(text: String) throws {
        let username = try #require(Username("carol"))
        #expect(throws: Password.Refusal.common) {
            try Password(choosing: text, for: username, email: nil, displayName: nil, host: nil)
        }
    }
}

extension PasswordPage {
    /// The fields of the page's form.
    func form(from current: String, to new: String) -> FormParameters {
        FormParameters([
            "ticket": ticket, "username": username, "current_password": current, "new_password": new,
        ])
    }
}
