import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The choice on the sign-in page to stay signed in when the browser is closed.
struct StaySignedInTests {
    private static let session = "__Host-counterfoil-session"

    /// The pages on which a user signs in.
    enum Door: CaseIterable {
        case authorization, console, device

        fileprivate func open(_ browser: inout ScriptedUserAgent, at test: TestServer) async throws -> Reply {
            switch self {
            case .authorization: try await browser.open(Attempt(test).url)
            case .console: try await browser.open("/sign-in")
            case .device:
                try await browser.type(userCode: try await TestDevice(test).codes().userCode)
            }
        }
    }

    /// Signs in on the page of a reply, and returns the attributes of the new session cookie.
    private static func attributes(
        signingIn browser: inout ScriptedUserAgent, on reply: Reply, staying: Bool? = nil
    ) async throws -> Set<String> {
        let page = try reply.signInPage
        let form = page.form(username: "alice", password: TestServer.password, stayingSignedIn: staying)
        let answer = try await browser.send(.post, to: page.action, form: form)
        let cookie = try #require(answer.cookies.first { $0.hasPrefix(session + "=") })
        return Set(cookie.split(separator: ";").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) })
    }

    private static let protected: Set<String> = ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"]

    // RFC 6265 §5.3: a browser that is closed deletes a cookie without Max-Age.
    @Test(arguments: Door.allCases, [false, true])
    func `the session cookie is persistent only if the user ticks the box`(door: Door, ticked: Bool)
        async throws
    {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await door.open(&browser, at: test)
        let attributes = try await Self.attributes(signingIn: &browser, on: page, staying: ticked)
        #expect(attributes == Self.protected.union(ticked ? ["Max-Age=604800"] : []))
        let sessions = try await test.store.sessions(of: test.alice.id)
        #expect(sessions.map(\.isPersistent) == [ticked])
        #expect(sessions.map(\.expiresAt) == [test.clock.now + 604_800])
    }

    @Test(arguments: Door.allCases)
    func `the owner decides whether the page has a box, and whether it is ticked at first`(door: Door) async throws {
        for (persistence, ticked) in [(SessionPersistence.never, nil), (.offered, false), (.ticked, true)] {
            let test = try await TestServer { $0.sessionPersistence = persistence }
            var browser = test.browser()
            let reply = try await door.open(&browser, at: test)
            #expect(try reply.signInPage.stayBox?.isTicked == ticked)
            let html = try reply.html()
            let box = "<input type=\"checkbox\" name=\"stay_signed_in\" value=\"true\""
            #expect(html.contains(box) == (ticked != nil))
            #expect(html.contains(box + " checked>") == (ticked == true))
            #expect(html.contains("Keep me signed in on this device") == (ticked != nil))
            let attributes = try await Self.attributes(signingIn: &browser, on: reply)
            #expect(attributes.contains("Max-Age=604800") == (ticked == true))
        }
    }

    @Test(arguments: Door.allCases)
    func `a posted choice is ignored where the owner offers none`(door: Door) async throws {
        let test = try await TestServer { $0.sessionPersistence = .never }
        var browser = test.browser()
        let page = try await door.open(&browser, at: test)
        #expect(try await Self.attributes(signingIn: &browser, on: page, staying: true) == Self.protected)
        #expect(try await test.store.sessions(of: test.alice.id).map(\.isPersistent) == [false])
    }

    @Test(arguments: ["false", "on", "TRUE", "1", ""])
    func `another value of the field is no choice`(value: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open("/sign-in").signInPage
        var form = page.form(username: "alice", password: TestServer.password)
        form.append("stay_signed_in", value)
        let answer = try await browser.send(.post, to: page.action, form: form)
        #expect(answer.status == .seeOther)
        #expect(answer.cookies.contains { $0.hasPrefix(Self.session + "=") && !$0.contains("Max-Age") })
    }

    @Test(arguments: Door.allCases, [SessionPersistence.offered, .ticked])
    func `a page that is shown again keeps the choice`(door: Door, persistence: SessionPersistence) async throws {
        for chosen in [true, false] {
            let test = try await TestServer {
                $0.sessionPersistence = persistence
                $0.signInLimits.delayFromFailure = 1
            }
            var browser = test.browser()
            let page = try await door.open(&browser, at: test)
            let wrong = try await browser.signIn(
                on: page, username: "alice", password: "wrong", stayingSignedIn: chosen)
            #expect(wrong.status == .badRequest)
            #expect(try wrong.signInPage.stayBox?.isTicked == chosen)
            let tooEarly = try await browser.signIn(on: wrong, username: "alice", password: TestServer.password)
            #expect(tooEarly.status == .tooManyRequests)
            #expect(try tooEarly.signInPage.stayBox?.isTicked == chosen)
            test.clock.advance(by: 60)
            let attributes = try await Self.attributes(signingIn: &browser, on: tooEarly)
            #expect(attributes.contains("Max-Age=604800") == chosen)
        }
    }

    // The cookie with the name of the user contains the choice.
    @Test(arguments: [SessionPersistence.offered, .ticked], [true, false])
    func `a user who signs in again finds the box as chosen before, and the new choice counts`(
        persistence: SessionPersistence, chosen: Bool
    ) async throws {
        let test = try await TestServer { $0.sessionPersistence = persistence }
        var browser = test.browser()
        let first = try await browser.open(Attempt(test).url)
        _ = try await Self.attributes(signingIn: &browser, on: first, staying: chosen)
        let again = Attempt(test).with("prompt", "login").url

        test.clock.advance(by: 3600)
        let unchanged = try await browser.open(again)
        #expect(try unchanged.signInPage.stayBox?.isTicked == chosen)
        let kept = try await Self.attributes(signingIn: &browser, on: unchanged)
        #expect(kept.contains("Max-Age=604800") == chosen)

        // The pages of the console that need a recent sign-in ask for the password, too.
        test.clock.advance(by: 3601)
        let stepUp = try await browser.open("/apps/new")
        #expect(try stepUp.signInPage.stayBox?.isTicked == chosen)
        let changed = try await Self.attributes(signingIn: &browser, on: stepUp, staying: !chosen)
        #expect(changed.contains("Max-Age=604800") == !chosen)
        #expect(changed.contains { $0.hasPrefix("Max-Age") } == !chosen)

        #expect(try await browser.open(again).signInPage.stayBox?.isTicked == !chosen)
        // Another user has not chosen yet.
        let bob = try await browser.open(Attempt(test).with("prompt", "login").with("login_hint", "bob").url)
        #expect(try bob.signInPage.stayBox?.isTicked == (persistence == .ticked))
        let sessions = try await test.store.sessions(of: test.alice.id)
        #expect(sessions.map(\.isPersistent) == [!chosen])

        // After the session, too.
        test.clock.advance(by: 9 * 3600)
        #expect(try await browser.open("/account").signInPage.stayBox?.isTicked == !chosen)
    }

    // "Not you? Forget this account"
    @Test func `the choice of a forgotten user is not suggested to the next one`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let first = try await browser.open(Attempt(test).url)
        _ = try await Self.attributes(signingIn: &browser, on: first, staying: true)
        let again = try await browser.open(Attempt(test).with("prompt", "login").url)
        #expect(try again.signInPage.earlier?.name == "Alice")
        let forgotten = try await browser.forgetEarlier(on: again).signInPage
        #expect(forgotten.earlier == nil && forgotten.username.isEmpty)
        #expect(forgotten.stayBox?.isTicked == false)
        #expect(browser.cookies["__Host-counterfoil-earlier"] == nil)
    }

    // The limits of every session: eight hours idle, and seven days in all.
    @Test func `a session with a persistent cookie ends as every other session`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice", stayingSignedIn: true)
        var idle = browser
        for _ in 1..<(7 * 4) {
            test.clock.advance(by: 6 * 3600)
            #expect(try await browser.open("/account").page is AccountPage)
        }
        test.clock.advance(by: 6 * 3600)
        #expect(try await browser.open("/account").page is SignInPage)
        try await idle.signInToConsole(username: "alice", stayingSignedIn: true)
        test.clock.advance(by: 8 * 3600)
        #expect(try await idle.open("/account").page is SignInPage)
    }

    @Test func `the cookie lasts for the session lifetime of the settings`() async throws {
        let test = try await TestServer { $0.sessionLifetime = 30 * 86_400 }
        var browser = test.browser()
        let page = try await browser.open("/sign-in")
        let attributes = try await Self.attributes(signingIn: &browser, on: page, staying: true)
        #expect(attributes == Self.protected.union(["Max-Age=2592000"]))
    }

    // Sessions that exist are not cut short.
    @Test func `a session from before the owner withdrew the choice stays until the next sign-in`() async throws {
        let test = try await TestServer { $0.sessionPersistence = .ticked }
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        var settings = test.server.settings
        settings.sessionPersistence = .never
        test.server.replaceSettings(by: settings)
        #expect(try await browser.open("/account").page is AccountPage)
        let again = try await browser.open(Attempt(test).with("prompt", "login").url)
        #expect(try again.signInPage.stayBox == nil)
        #expect(try await Self.attributes(signingIn: &browser, on: again, staying: true) == Self.protected)
    }
}
