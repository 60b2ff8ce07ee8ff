import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Users with a role who sign in at the page of the owner.
struct ExternalRoleTests {
    /// Gives a user the identity `customer-7` at the page.
    private static func link(_ user: User, at test: TestServer) async throws {
        let subject = try #require(ExternalSubject(issuer: TestSignInPage.issuer, subject: "customer-7"))
        let identity = UserIdentity(subject: subject, userID: user.id, createdAt: test.clock.now)
        #expect(try await test.store.addIdentity(identity, recording: []) == .added)
    }

    @Test(arguments: ["/admin", "/admin/users", "/account", "/account/passkeys", "/apps"])
    func `a page of the console needs a sign-in here`(path: String) async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        let root = try await test.addUser("root", role: .owner)
        try await Self.link(root, at: test)
        var browser = test.browser()
        _ = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test).consentPage
        let signIn = try await browser.open(path).signInPage
        #expect(signIn.notice == Localizer.english(SignInMessage.signInHere))
        let form = signIn.form(username: "root", password: TestServer.password)
        #expect(try await browser.send(.post, to: signIn.action, form: form).status == .seeOther)
        #expect(try await browser.open(path).status == .ok)
    }

    @Test func `a form that was opened in a session with the role changes nothing after a sign-in at the page`()
        async throws
    {
        let page = try TestSignInPage()
        let test = try await page.server()
        let root = try await test.addUser("root", role: .owner)
        try await Self.link(root, at: test)
        var browser = test.browser()
        try await browser.signInToConsole(username: "root", to: "/account/passkeys")
        let form = try await browser.open("/account/passkeys").passkeysPage
        // The session continues under its identifier, so the ticket of the form stays valid.
        let redirect = try await browser.open(Attempt(test).with("prompt", "login").url)
        _ = try await page.signIn(on: redirect, in: &browser, at: test).consentPage
        var passkey = TestPasskey()
        let answer = try passkey.registration(for: form.offer.options)
        let reply = try await browser.send(
            .post, to: form.offer.action,
            form: FormParameters(["ticket": form.offer.ticket, "passkey": answer, "decision": "add"]))
        #expect(reply.status == .seeOther && reply.location?.contains("/sign-in") == true)
        #expect(try await test.store.passkeys(of: root.id).isEmpty)
    }

    @Test func `a token from a sign-in at the page has no right of the administration`() async throws {
        let page = try TestSignInPage()
        let setting = try page.setting()
        let desk = try await AdministrationDesk { $0.externalSignIn = setting }
        try await Self.link(desk.root, at: desk.test)
        let attempt = Attempt(desk.test, by: desk.client, for: AdministrationDesk.scope)
        var browser = desk.test.browser()
        let redirect = try await browser.open(attempt.url)
        let consent = try await page.signIn(on: redirect, in: &browser, at: desk.test)
        let code = try await browser.decide(.allow, on: consent).code
        let token = try await desk.test.redeem(attempt.exchange(code)).tokenResponse.accessToken
        let refused = try await desk.send(.get, "/users", as: token)
        #expect(refused.status == .forbidden && refused.problem == "missing-right")
        // A sign-in here gives the same user the rights.
        var own = desk.test.browser()
        try await own.signInToConsole(username: "root")
        let again = try await own.decide(.allow, on: try await own.open(attempt.with("prompt", "consent").url)).code
        let local = try await desk.test.redeem(attempt.exchange(again)).tokenResponse.accessToken
        #expect(try await desk.send(.get, "/users", as: local).status == .ok)
    }
}
