import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// A developer cannot see, edit or guess the client of another developer.
struct ClientAccessTests {
    static let pages = [
        "", "/edit", "/connect", "/logo", "/policy", "/approval", "/secrets", "/association", "/delete",
        "/developers",
    ]

    // The same response as for a client that does not exist.
    @Test(arguments: pages)
    func `another developer finds no client`(page: String) async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        var other = try await Developer("eve", of: test)
        let theirs = try await other.browser.send(.get, to: "/apps/\(client.id)\(page)")
        let nobodys = try await other.browser.send(.get, to: "/apps/app_AAAAAAAAAAAAAAAAAAAAAA\(page)")
        #expect(theirs.status == .notFound)
        #expect(try theirs.problemPage.title == nobodys.problemPage.title)
        #expect(try theirs.problemPage.explanation == nobodys.problemPage.explanation)
        #expect(try await other.browser.open("/apps").clientsPage.clients.isEmpty)
    }

    // Even with an anti-CSRF token of their own for that URL.
    @Test(arguments: ["/edit", "/secrets", "/delete", "/policy"])
    func `another developer changes nothing`(page: String) async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        var other = try await Developer("eve", of: test)
        let own = try await other.registered(
            Developer.form(type: "web", redirectURIs: "https://eve.example.com/callback"))
        let ticket = try await other.browser.open("/apps/\(own.id)/edit").clientFormPage.ticket
        let form = Developer.form("Taken over", type: "web", redirectURIs: "https://eve.example.com/callback")
            .adding("ticket", ticket).adding("revision", "0").adding("decision", "add")
        let reply = try await other.browser.send(.post, to: "/apps/\(client.id)\(page)", form: form)
        #expect(reply.status == .notFound)
        #expect(try await test.store.client(client.id) == client)
        #expect(try await test.store.clientSecrets(of: client.id).count == 1)
    }

    // Fields that the form does not contain are ignored.
    @Test func `a developer can neither see nor change the policy`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        let page = try await owner.browser.open("/apps/\(client.id)").clientPage
        #expect(page.paths.policy == nil)
        #expect(try await owner.browser.send(.get, to: "/apps/\(client.id)/policy").status == .notFound)
        // Policy fields in the developer's form are ignored.
        let edit = try await owner.browser.open("/apps/\(client.id)/edit").clientFormPage
        let form = Developer.form().adding("ticket", edit.ticket).adding("revision", String(edit.revision))
            .adding("first_party", "on").adding("vouched_for", "on").adding("require_state", "")
        _ = try await owner.browser.submit(form, to: edit.action).clientPage
        #expect(try await test.store.client(client.id)?.policy == client.policy)
        for pkce in ["s256-or-plain", "s256-or-nonce", "exempt-until:2099-01-31"] {
            let next = form.setting("revision", to: String(edit.revision + 1)).adding("pkce", pkce)
            let refused = try await owner.browser.submit(next, to: edit.action)
            #expect(try refused.clientFormPage.problems.map(\.field) == ["pkce"])
            #expect(try await test.store.client(client.id)?.policy == client.policy)
        }
        for path in ["/admin", "/admin/branding"] {
            #expect(try await owner.browser.send(.get, to: path).status == .notFound)
        }
    }

    // The anti-CSRF token belongs to this session and this page.
    @Test func `a form from another page registers nothing`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        var other = try await Developer("eve", of: test)
        let page = try await owner.browser.open("/apps/new?type=native").clientFormPage
        let foreign = try await other.browser.open("/apps/new?type=native").clientFormPage
        let cases: [(FormParameters, HTTPFields)] = [
            (Developer.form(), [:]),
            (Developer.form().adding("ticket", foreign.ticket), [:]),
            (
                Developer.form().adding("ticket", page.ticket),
                [.origin: "https://evil.example", try .named("Sec-Fetch-Site"): "cross-site"]
            ),
        ]
        for (form, fields) in cases {
            let reply = try await owner.browser.send(.post, to: page.action, form: form, fields: fields)
            #expect(reply.status == .forbidden)
        }
        #expect(try await owner.browser.open("/apps").clientsPage.clients.isEmpty)
    }

    @Test func `a user without a session signs in and returns to the page`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("dora")
        var browser = test.browser()
        let reply = try await browser.open("/apps/new")
        #expect(try reply.signInPage.request == "/apps/new")
        let after = try await browser.signIn(on: reply, username: "dora", password: TestServer.password)
        guard after.page is ClientTypesPage else {
            Issue.record("not the page that was asked for")
            return
        }
    }
}
