import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import HTTPTypes
import Testing

/// The pages that change a registration, a policy or the branding require a recent sign-in, not only a session.
struct RecentSignInTests {
    static let sensitive = ["/edit", "/policy", "/secrets", "/delete"]

    /// An administrator with a web client, an hour after the sign-in.
    private static func anHourLater() async throws -> (Developer, ClientIdentifier) {
        var developer = try await Developer("dora", of: try await TestServer(), isAdministrator: true)
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        developer.test.clock.advance(by: Double(developer.test.server.settings.recentSignInAge))
        return (developer, client.id)
    }

    // SEC-28
    // OpenID Connect Core §3.1.2.1 defines max_age for clients in the same way.
    @Test(arguments: sensitive)
    func `a page that changes a registration requires a recent sign-in and returns`(page: String) async throws {
        var (developer, client) = try await Self.anHourLater()
        #expect(developer.test.server.settings.recentSignInAge == 3600)
        let path = "/apps/\(client)\(page)"
        let asked = try await developer.browser.send(.get, to: path)
        #expect(asked.status == .seeOther)
        let signIn = try await developer.browser.open(try #require(asked.location)).signInPage
        #expect(signIn.notice == Localizer.english(SignInMessage.signInAgain))
        let form = signIn.form(username: "dora", password: TestServer.password)
        let back = try await developer.browser.send(.post, to: signIn.action, form: form)
        #expect(back.location == path)
        #expect(try await developer.browser.send(.get, to: path).status == .ok)
    }

    // SEC-28
    @Test func `the branding page requires a recent sign-in, read-only pages do not`() async throws {
        var (developer, client) = try await Self.anHourLater()
        #expect(try await developer.browser.send(.get, to: "/admin/branding").status == .seeOther)
        for path in ["/admin", "/apps", "/apps/\(client)", "/apps/\(client)/connect", "/account"] {
            #expect(try await developer.browser.send(.get, to: path).status == .ok, "\(path)")
        }
    }

    @Test func `a form that was opened in time is accepted later`() async throws {
        var developer = try await Developer("dora", of: try await TestServer(), isAdministrator: true)
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        let page = try await developer.browser.open("/apps/\(client.id)/secrets").secretsPage
        developer.test.clock.advance(by: Double(developer.test.server.settings.recentSignInAge) + 60)
        let form = FormParameters(["ticket": page.ticket, "decision": "add"])
        let added = try await developer.browser.send(.post, to: page.action, form: form)
        #expect(try added.secretsPage.newSecret != nil)
    }

    // SEC-29
    @Test func `a copied cookie changes nothing without the password`() async throws {
        var (developer, client) = try await Self.anHourLater()
        let before = try await developer.test.store.clientSecrets(of: client)
        let form = FormParameters(["decision": "add"])
        #expect(try await developer.browser.send(.post, to: "/apps/\(client)/secrets", form: form).status == .forbidden)
        #expect(try await developer.test.store.clientSecrets(of: client) == before)
    }
}
