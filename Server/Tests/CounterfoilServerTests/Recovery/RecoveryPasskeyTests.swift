import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A passkey that a link adds in place of the password.
struct RecoveryPasskeyTests {
    @Test func `a link adds a passkey in place of the password, once`() async throws {
        let test = try await TestServer()
        var elsewhere = test.browser(source: "198.51.100.1")
        try await elsewhere.signInToConsole(username: "alice")
        let link = try await test.operatorLink(for: test.alice)
        var browser = test.browser()
        let page = try await browser.open(link).newPasswordPage
        var passkey = TestPasskey()
        let answer = try passkey.registration(for: try #require(page.passkeyOptions))
        let form = page.form("").setting("passkey", to: answer)
        let forged = form.setting("passkey", to: answer.replacing("public-key", with: "other"))
        #expect(try await browser.send(.post, to: page.action, form: forged).status == .badRequest)
        _ = try await browser.submit(form, to: page.action).accountPage
        #expect(try await test.store.user(test.alice.id)?.passwordHash == nil)
        #expect(try await test.store.passkeys(of: test.alice.id).count == 1)
        #expect(try await test.store.sessions(of: test.alice.id).map(\.methods) == [[.passkey]])
        #expect(try await elsewhere.open("/account").page is SignInPage)
        #expect(try await browser.submit(form, to: page.action).status == .notFound)
    }

    @Test func `a user with twenty passkeys sets a password, and learns why no passkey is added`() async throws {
        let test = try await TestServer()
        let link = try await test.operatorLink(for: test.alice)
        var browser = test.browser()
        let page = try await browser.open(link).newPasswordPage
        var passkey = TestPasskey()
        let answer = try passkey.registration(for: try #require(page.passkeyOptions))
        for number in 0..<UInt8(Passkey.limitPerUser) {
            #expect(try await test.store.addPasskey(.example(number, of: test.alice), recording: []) == .added)
        }
        let form = page.form("").setting("passkey", to: answer)
        let refused = try await browser.submit(form, to: page.action)
        #expect(refused.status == .badRequest)
        let again = try refused.newPasswordPage
        #expect(again.problem?.contains("as many passkeys") == true && again.passkeyOptions == nil)
        _ = try await browser.setPassword("a new one that nobody else has", on: refused).accountPage
    }
}
