import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// A form whose page was open for longer than its anti-CSRF token is valid, while the user is still signed in.
struct LateFormTests {
    /// Lets an anti-CSRF token expire while the session stays valid.
    private static func wait(_ developer: inout Developer) async throws {
        let part = Double(developer.test.server.settings.sessionIdleLifetime) * 0.6
        for _ in 0..<2 {
            developer.test.clock.advance(by: part)
            _ = try await developer.browser.open("/apps").clientsPage
        }
    }

    // The input is kept, and nothing is saved before the user submits it again.
    @Test func `a late registration is shown again and can be submitted`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let page = try await developer.browser.open("/apps/new?type=native").clientFormPage
        try await Self.wait(&developer)
        let late = try await developer.browser.submit(
            Developer.form("Typed at noon").adding("ticket", page.ticket), to: page.action)
        #expect(late.status == .badRequest)
        let again = try late.clientFormPage
        #expect(again.name.value == "Typed at noon")
        #expect(again.problems.map(\.field) == [nil])
        #expect(again.scopes.filter(\.isAssigned).map(\.name) == ["openid", "photos.read"])
        #expect(try await developer.browser.open("/apps").clientsPage.clients.isEmpty)
        let sent = try await developer.browser.submit(
            Developer.form("Typed at noon").adding("ticket", again.ticket)
                .adding("current_password", TestServer.password), to: again.action)
        #expect(try sent.clientPage.client.name == "Typed at noon")
    }

    @Test func `a late change and a late policy are shown again`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let client = try await administrator.registered()
        let edit = try await administrator.browser.open("/apps/\(client.id)/edit").clientFormPage
        let policy = try await administrator.browser.open("/apps/\(client.id)/policy").policyPage
        try await Self.wait(&administrator)
        let change = Developer.form("Renamed").adding("ticket", edit.ticket)
            .adding("revision", String(edit.revision))
        let changed = try await administrator.browser.submit(change, to: edit.action)
        #expect(changed.status == .badRequest)
        #expect(try changed.clientFormPage.name.value == "Renamed")
        let decision = policy.form(["first_party": "on", "refresh_tokens": "never"])
        let decided = try await administrator.browser.submit(decision, to: policy.action)
        #expect(decided.status == .badRequest)
        #expect(try decided.policyPage.firstParty?.isOn == true)
        #expect(try await test.store.client(client.id) == client)
    }

    // Late or not, an anti-CSRF token belongs to one session and one page.
    @Test func `a late form from another page is refused`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        var other = try await Developer("eve", of: test)
        let foreign = try await other.browser.open("/apps/new?type=native").clientFormPage
        try await Self.wait(&developer)
        let reply = try await developer.browser.submit(
            Developer.form().adding("ticket", foreign.ticket), to: foreign.action)
        #expect(reply.status == .forbidden)
    }
}
