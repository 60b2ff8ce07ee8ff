import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Two tabs of one browser, in which a user signs in and out while pages are open.
struct SecondTabTests {
    /// Opens the link on an error page about a form that is out of date.
    private static func openAgain(_ reply: Reply, in browser: inout ScriptedUserAgent) async throws -> Reply {
        #expect(reply.status == .forbidden)
        let page = try reply.problemPage
        #expect(page.title == "This page is out of date")
        #expect(!page.advice.contains("tried to act in your name"))
        let link = try #require(page.continueLink)
        #expect(link.title == "Open the page again")
        return try await browser.open(link.address)
    }

    // Both tabs show the sign-in page; the second sign-in replaces the session of the first.
    @Test func `a consent page stays valid when the user signs in again in another tab`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let (first, second) = (Attempt(test), Attempt(test, for: "photos.write"))
        let inFirst = try await browser.open(first.url)
        let inSecond = try await browser.open(second.url)
        let consent = try await browser.signIn(on: inSecond, username: "alice", password: TestServer.password)
        let before = browser.cookies
        let other = try await browser.signIn(on: inFirst, username: "alice", password: TestServer.password)
        #expect(browser.cookies != before)
        #expect(try await test.redeem(second.exchange(browser.decide(.allow, on: consent).code)).status == .ok)
        #expect(try await test.redeem(first.exchange(browser.decide(.allow, on: other).code)).status == .ok)
    }

    // Also the pages of the console, of a device, and the question whether to sign out.
    @Test func `every page stays valid when the user signs in again in another tab`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var browser = device.test.browser()
        try await browser.signInToConsole(username: "alice")
        let (sessions, signOut) = (
            try await browser.open("/account/sessions").sessionsPage,
            try await browser.open("/oauth2/logout").signOutPage
        )
        let asked = try await browser.type(userCode: codes.userCode)
        let signIn = try await browser.open(Attempt(device.test).with("prompt", "login").url)
        _ = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password).consentPage

        let ended = try await browser.send(
            .post, to: sessions.action, form: FormParameters(["ticket": sessions.ticket, "decision": "end-others"]))
        #expect(ended.status == .seeOther)
        #expect(try await browser.decide(.allow, on: asked).deviceDonePage.kind == .approved)
        let form = FormParameters(["request": signOut.request, "ticket": signOut.ticket, "decision": "sign-out"])
        _ = try await browser.submit(form, to: signOut.action).signedOutPage
    }

    // A page of another sign-in changes nothing, and leads to the same page for the user of now.
    @Test func `a consent page of another user is refused, with a link to the request`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        let attempt = Attempt(test)
        var (browser, page) = try await attempt.afterSignIn()
        let switched = try await browser.decide(.switchAccount, on: page)
        _ = try await browser.signIn(on: switched, username: "bob", password: TestServer.password).consentPage
        let refused = try await browser.decide(.allow, on: page)
        #expect(try await test.store.consent(of: test.alice.id, to: test.lightbox.id) == nil)
        page = try await Self.openAgain(refused, in: &browser)
        #expect(try page.consentPage.userDisplayName.description == "Bob")
        #expect(try await test.redeem(attempt.exchange(browser.decide(.allow, on: page).code)).status == .ok)
    }

    // The browser restores two tabs at once, so both requests come without a cookie, and the second response wins.
    @Test func `a sign-in page that was opened at the same time as another leads back to its request`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        let test = device.test
        var browser = test.browser()
        for (path, action) in [
            (Attempt(test).url, "/oauth2/authorize/sign-in"), ("/sign-in?to=/account/sessions", "/sign-in"),
        ] {
            let first = try await browser.open(path)
            browser.cookies = [:]
            _ = try await browser.open("/sign-in")
            let refused = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
            let again = try await Self.openAgain(refused, in: &browser).signInPage
            #expect(again.action == action)
            #expect(try again.request == first.signInPage.request)
            browser.cookies = [:]
        }
        let typing = try await browser.open("/device").deviceCodePage
        browser.cookies = [:]
        _ = try await browser.open("/sign-in")
        let refused = try await browser.submit(typing.form(codes.userCode), to: typing.action)
        let again = try await Self.openAgain(refused, in: &browser).deviceCodePage
        #expect(again.userCode == codes.userCode)
        let signIn = try await browser.submit(again.form(codes.userCode), to: again.action)
        browser.cookies = [:]
        _ = try await browser.open("/sign-in")
        let late = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password)
        #expect(try await Self.openAgain(late, in: &browser).deviceCodePage.userCode == codes.userCode)
    }

    // A form that only receives data leads to the account page.
    @Test(arguments: [("/account/sessions", "end-others"), ("/account/sign-out", "")])
    func `a form of the console of another sign-in leads back to its page`(path: String, decision: String) async throws
    {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open("/account/sessions").sessionsPage
        let ticket = path == page.action ? page.ticket : page.console.signOutTicket
        browser.cookies = [:]
        try await browser.signInToConsole(username: "alice")
        let form = FormParameters(["ticket": ticket, "decision": decision])
        let again = try await Self.openAgain(try await browser.submit(form, to: path), in: &browser)
        if path == page.action { _ = try again.sessionsPage } else { _ = try again.accountPage }
    }
}
