import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The hint of an earlier sign-in, which depends on a cookie of this browser alone.
struct EarlierSignInTests {
    private static let cookie = "__Host-counterfoil-earlier"
    private static let session = "__Host-counterfoil-session"

    /// A browser in which alice has signed in before, and is signed out now.
    private static func known(_ test: TestServer) async throws -> ScriptedUserAgent {
        var (browser, _) = try await Attempt(test).afterSignIn()
        browser.cookies[session] = nil
        return browser
    }

    // draft-ietf-oauth-native-apps-03 §8.3
    @Test func `a browser shows who signed in before`() async throws {
        let test = try await TestServer()
        var browser = try await Self.known(test)
        let reply = try await browser.open(Attempt(test).url)
        let page = try reply.signInPage
        #expect(page.earlier == .init(name: "Alice", email: MaskedEmail("alice@example.com")))
        #expect(page.username == "alice")
        let html = try reply.html()
        #expect(html.contains("al•••@example.com"))
        #expect(!html.contains("alice@example.com"))
        let button = "<button class=\"quiet\" name=\"forget\" value=\"true\">Not you? Forget this account</button>"
        #expect(html.contains(button))
    }

    // The hint survives a failed sign-in, and names the last user who signed in.
    @Test func `the hint names the last user who signed in`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        var browser = try await Self.known(test)
        let first = try await browser.open(Attempt(test).url)
        let wrong = try await browser.signIn(on: first, username: "bob", password: "wrong")
        #expect(try wrong.signInPage.earlier?.name == "Alice")
        _ = try await browser.signIn(on: first, username: "bob", password: TestServer.password)
        browser.cookies[Self.session] = nil
        #expect(try await browser.open(Attempt(test).url).signInPage.earlier == .init(name: "Bob"))
    }

    // Never from a request or a typed name, so that it does not reveal which accounts exist.
    @Test(arguments: ["alice", "alice@example.com"])
    func `only the cookie gives the hint`(name: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let first = try await browser.open(Attempt(test).with("login_hint", name).url)
        #expect(try first.signInPage.earlier == nil)
        #expect(try first.signInPage.username == name)
        let wrong = try await browser.signIn(on: first, username: name, password: "wrong")
        #expect(try wrong.signInPage.earlier == nil)
        #expect(wrong.cookies.isEmpty)
        #expect(browser.cookies[Self.cookie] == nil)
    }

    // The name that the request or the user gives takes precedence.
    @Test func `the form of a returning user is filled in, and accepts another user`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        var browser = try await Self.known(test)
        let first = try await browser.open(Attempt(test).url)
        #expect(try first.signInPage.username == "alice")
        let field = /<input id="password"[^>]* autofocus>/
        #expect(try first.html().contains(field))
        let requested = try await browser.open(Attempt(test).with("login_hint", "bob").url).signInPage
        #expect(requested.username == "bob" && requested.earlier?.name == "Alice")
        let wrong = try await browser.signIn(on: first, username: "bob", password: "wrong")
        #expect(try wrong.signInPage.username == "bob")
        let consent = try await browser.signIn(on: first, username: "bob", password: TestServer.password)
        #expect(try consent.consentPage.userDisplayName == "Bob")
    }

    // "Not you? Forget this account"
    @Test func `the hint can be removed`() async throws {
        let test = try await TestServer()
        var browser = try await Self.known(test)
        let attempt = Attempt(test)
        let first = try await browser.open(attempt.url)
        let forgotten = try await browser.forgetEarlier(on: first)
        #expect(forgotten.status == .ok)
        #expect(try forgotten.signInPage.earlier == nil)
        #expect(try forgotten.signInPage.problem == nil)
        #expect(try forgotten.signInPage.username.isEmpty)
        #expect(browser.cookies[Self.cookie] == nil)
        #expect(try await browser.open(attempt.url).signInPage.earlier == nil)
        let consent = try await browser.signIn(on: forgotten, username: "alice", password: TestServer.password)
        #expect(try consent.consentPage.userDisplayName == "Alice")
    }

    // "Use another account" on the consent page removes the hint as well.
    @Test func `switching the account on the consent page removes the hint`() async throws {
        let test = try await TestServer()
        var (browser, consent) = try await Attempt(test).afterSignIn()
        #expect(browser.cookies[Self.cookie] != nil)
        let page = try consent.consentPage
        let answer = try await browser.send(.post, to: page.switchAccountAction, form: page.form(.switchAccount))
        #expect(answer.status == .seeOther)
        #expect(browser.cookies[Self.session] == nil)
        #expect(browser.cookies[Self.cookie] == nil)
        let signIn = try await browser.open(try #require(answer.location))
        #expect(try signIn.signInPage.earlier == nil)
        #expect(try !signIn.html().contains("Alice"))
    }

    // Only a form of the page itself can remove it.
    @Test func `another site cannot remove the hint`() async throws {
        let test = try await TestServer()
        var browser = try await Self.known(test)
        let page = try await browser.open(Attempt(test).url).signInPage
        let form = FormParameters(["request": page.request, "ticket": "x", "forget": "true"])
        #expect(try await browser.submit(form, to: page.action).status == .forbidden)
        #expect(browser.cookies[Self.cookie] != nil)
    }

    // The cookie is encrypted and authenticated, and valid for this server only.
    @Test func `a cookie of another server gives no hint`() async throws {
        let test = try await TestServer()
        let value = try #require(try await Self.known(test).cookies[Self.cookie])
        #expect(!String(decoding: Base64URL.decode(value) ?? [], as: UTF8.self).contains("lice"))
        for forged in [
            "", "alice", String(value.dropLast(2)), "A" + value.dropFirst(), value + value,
            Base64URL.encode(Array(#"{"name":"Mallory"}"#.utf8)), String(repeating: "A", count: 5000),
        ] where forged != value {
            var browser = test.browser()
            browser.cookies[Self.cookie] = forged
            #expect(try await browser.open(Attempt(test).url).signInPage.earlier == nil)
        }
    }

    // Both sign-in pages use it.
    @Test func `the console shows the hint, and a sign-in there sets it`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let first = try await browser.open("/sign-in")
        #expect(try first.signInPage.earlier == nil)
        let page = try first.signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        let reply = try await browser.send(.post, to: page.action, form: form)
        #expect(reply.status == .seeOther)
        browser.cookies[Self.session] = nil
        #expect(try await browser.open(Attempt(test).url).signInPage.earlier?.name == "Alice")
        let again = try await browser.open("/sign-in")
        #expect(try again.signInPage.earlier?.name == "Alice")
        let wrong = try await browser.send(
            .post, to: page.action, form: try again.signInPage.form(username: "alice", password: "wrong"))
        #expect(wrong.status == .badRequest)
        #expect(try wrong.signInPage.earlier?.name == "Alice")
        #expect(try await browser.forgetEarlier(on: try await browser.open("/sign-in")).signInPage.earlier == nil)
    }

    // Protected like a session cookie, although it grants no access.
    @Test func `the cookie is for this host, and no script reads it`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url).signInPage
        let signedIn = try await browser.send(
            .post, to: page.action, form: page.form(username: "alice", password: TestServer.password))
        let cookie = try #require(signedIn.cookies.first { $0.hasPrefix(Self.cookie + "=") })
        let attributes = Set(cookie.split(separator: ";").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) })
        #expect(attributes == ["Path=/", "HttpOnly", "SameSite=Lax", "Secure", "Max-Age=15552000"])
    }
}
