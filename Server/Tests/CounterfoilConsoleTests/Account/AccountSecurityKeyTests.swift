import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The security keys of a user: adding (WebAuthn §7.1), renaming and removing.
struct AccountSecurityKeyTests {
    /// A browser in which alice is signed in and has set up the second factor.
    private struct Scene {
        let test: TestServer
        var browser: ScriptedUserAgent
        let app: TestAuthenticator

        init() async throws {
            test = try await TestServer()
            browser = test.browser()
            try await browser.signInToConsole(username: "alice")
            (app, _) = try await test.setUpSecondFactor(in: &browser)
        }

        /// A code that was not used yet.
        func code() -> String {
            test.clock.advance(by: 30)
            return test.code(of: app)
        }

        mutating func press(_ decision: String, _ fields: [String: String]) async throws -> Reply {
            let page = try await browser.open("/account/second-factor").secondFactorPage
            var form = FormParameters(["ticket": page.ticket, "decision": decision])
            for (name, value) in fields { form.append(name, value) }
            return try await browser.submit(form, to: page.action)
        }

        func keys() async throws -> [Passkey] { try await test.store.securityKeys(of: test.alice.id) }
    }

    @Test func `a user adds several security keys with a code, names them and removes one`() async throws {
        var scene = try await Scene()
        let page = try await scene.browser.open("/account/second-factor").secondFactorPage
        let options = try #require(page.keyOffer).options
        #expect(options.contains(#""residentKey":"discouraged""#) && options.contains(#""requireResidentKey":false"#))
        #expect(options.contains(#""userVerification":"discouraged""#))
        var (first, second) = (TestPasskey.securityKey(), TestPasskey.securityKey())
        let added = try await scene.browser.add(&first, provingBy: scene.code()).secondFactorPage
        #expect(added.notice?.hasPrefix("Your security key is added.") == true)
        #expect(added.keys.map(\.name) == ["Security key"])
        try await scene.browser.add(&second, provingBy: scene.code())
        let rows = try await scene.browser.open("/account/second-factor").secondFactorPage.keys
        #expect(rows.count == 2)
        _ = try await scene.press("rename-key", ["passkey": rows[0].id, "name": "Blue"])
        #expect(try await scene.press("rename-key", ["passkey": rows[0].id, "name": " "]).status == .badRequest)
        let without = try await scene.press("remove-key", ["passkey": rows[1].id, "current": "000000"])
        #expect(without.status == .badRequest)
        let removed = try await scene.press("remove-key", ["passkey": rows[1].id, "current": scene.code()])
        #expect(try removed.secondFactorPage.notice == "The security key is removed.")
        #expect(try await scene.keys().map(\.name) == ["Blue"])
        let events = try await scene.test.store.audit(AuditQuery(kind: .secondFactor)).map(\.event.detail)
        #expect(
            events.compactMap(\.self).filter { $0.hasPrefix("security key") } == [
                "security key deleted", "security key renamed", "security key added", "security key added",
            ])
    }

    @Test func `without a right code, no security key is added`() async throws {
        var scene = try await Scene()
        var key = TestPasskey.securityKey()
        for code in ["", scene.app.wrongCode(at: scene.test.clock.wall)] {
            #expect(try await scene.browser.add(&key, provingBy: code).status == .badRequest)
        }
        var foreign = TestPasskey.securityKey()
        foreign.origin = "https://evil-id.example.com"
        #expect(try await scene.browser.add(&foreign, provingBy: scene.code()).status == .badRequest)
        #expect(try await scene.keys().isEmpty)
    }

    @Test func `no security key belongs to two users`() async throws {
        var scene = try await Scene()
        var key = TestPasskey.securityKey()
        try await scene.browser.add(&key, provingBy: scene.code())
        _ = try await scene.test.addUser("bob")
        var bob = scene.test.browser(source: "192.0.2.9")
        try await bob.signInToConsole(username: "bob")
        let app = try await scene.test.setUpSecondFactor(in: &bob).app
        let twice = try await bob.add(&key, provingBy: scene.test.code(of: app))
        #expect(twice.status == .badRequest)
        #expect(
            try twice.secondFactorPage.problems.map(\.text) == ["This security key already belongs to an account."])
        // Nor does bob remove that of alice.
        let id = try #require(try await scene.browser.open("/account/second-factor").secondFactorPage.keys.first?.id)
        scene.test.clock.advance(by: 30)
        let page = try await bob.open("/account/second-factor").secondFactorPage
        let form = FormParameters([
            "ticket": page.ticket, "decision": "remove-key", "passkey": id, "current": scene.test.code(of: app),
        ])
        #expect(
            try await bob.submit(form, to: page.action).secondFactorPage.notice
                == "That security key was already removed.")
        #expect(try await scene.keys().count == 1)
    }

    @Test func `security keys go with the second factor`() async throws {
        var scene = try await Scene()
        var key = TestPasskey.securityKey()
        try await scene.browser.add(&key, provingBy: scene.code())
        _ = try await scene.press("remove", ["current": scene.code()])
        #expect(try await scene.keys().isEmpty)
        #expect(try await scene.test.store.secondFactor(of: scene.test.alice.id) == .none)
    }
}
