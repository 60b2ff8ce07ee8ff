import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The identities of a user at the page of the owner, as ways in.
struct AccountIdentityTests {
    /// A browser in which the user of an identity is signed in at the page of the owner.
    private struct Scene {
        let page: TestSignInPage
        let test: TestServer
        var browser: ScriptedUserAgent

        init() async throws {
            page = try TestSignInPage()
            test = try await page.server()
            browser = test.browser()
            let link = try #require(try await browser.open("/sign-in").signInPage.external)
            let reply = try await page.signIn(on: try await browser.open(link.address), in: &browser, at: test)
            _ = try reply.accountPage
        }

        mutating func remove(_ id: String) async throws -> Reply {
            let shown = try await browser.open("/account/password").passwordPage
            return try await browser.submit(
                FormParameters(["ticket": shown.ticket, "decision": "remove-identity", "identity": id]),
                to: shown.action)
        }

        var user: User {
            get async throws {
                let subject = try #require(ExternalSubject(issuer: TestSignInPage.issuer, subject: "customer-7"))
                return try #require(try await test.store.identity(subject)?.user)
            }
        }
    }

    @Test func `the only way in is listed, and stays until there is another one`() async throws {
        var scene = try await Scene()
        let user = try await scene.user
        let list = try #require(try await scene.browser.open("/account/password").passwordPage.identities)
        #expect(list.rows.map(\.name) == ["Example Shop"] && list.rows[0].lastUsed != nil)
        #expect(!list.canRemove && list.rows[0].removal == nil)
        let id = try #require(try await scene.test.store.identities(of: user.id).first).id
        let refused = try await scene.remove(id.rawValue)
        #expect(refused.status == .badRequest)
        #expect(try refused.passwordPage.problems.first?.text.contains("only way to sign in") == true)

        let shown = try await scene.browser.open("/account/password").passwordPage
        let form = FormParameters([
            "ticket": shown.ticket, "decision": "add", "new_password": "a long and unusual pass phrase",
        ])
        _ = try await scene.browser.submit(form, to: shown.action).accountPage
        let removed = try await scene.remove(id.rawValue)
        #expect(try removed.passwordPage.notice == "You can no longer sign in that way.")
        #expect(try removed.passwordPage.identities == nil)
        #expect(try await scene.test.store.identities(of: user.id).isEmpty)
        let activity = try await scene.browser.open("/account/activity").html()
        #expect(activity.contains("Removed the sign-in with another service"))
    }

    @Test func `a password and the last passkey can be removed while the identity is a way in`() async throws {
        var scene = try await Scene()
        let user = try await scene.user
        var passkey = TestPasskey()
        try await scene.browser.add(&passkey)
        let row = try #require(try await scene.browser.open("/account/passkeys").passkeysPage.rows.first)
        let page = try await scene.browser.open("/account/passkeys").passkeysPage
        let form = FormParameters(["ticket": page.offer.ticket, "decision": "remove", "passkey": row.id])
        _ = try await scene.browser.submit(form, to: page.offer.action).passkeysPage
        #expect(try await scene.test.store.passkeys(of: user.id).isEmpty)

        // Without the setting, the identity is no way in, and no page shows it.
        try await scene.browser.add(&passkey)
        var settings = scene.test.server.settings
        settings.externalSignIn = nil
        scene.test.server.replaceSettings(by: settings)
        let last = try await scene.browser.open("/account/passkeys").passkeysPage
        let again = FormParameters([
            "ticket": last.offer.ticket, "decision": "remove", "passkey": try #require(last.rows.first).id,
        ])
        #expect(try await scene.browser.submit(again, to: last.offer.action).status == .badRequest)
        #expect(try await scene.browser.open("/account/password").passwordPage.identities == nil)
    }
}
