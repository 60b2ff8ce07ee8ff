import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The lists of apps: search, state, order and pages.
struct ClientListTests {
    @Test func `the list of an administrator has the users and the last use of each app`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .owner)
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered(Developer.form(redirectURIs: "http://127.0.0.1/callback"))
        let attempt = Attempt(test, by: client)
        #expect(try await owner.browser.open("/apps").clientsPage.clients.first?.use?.lastUsed == nil)
        let code = try await attempt.authorize().code
        _ = await test.redeem(attempt.exchange(code))
        let list = try await administrator.browser.open("/admin/apps?search=dora").administrationPage
        #expect(list.clients.map(\.clientID) == [client.id.rawValue] && list.count == "1 app")
        #expect(list.clients.first?.use?.users == "1" && list.clients.first?.use?.lastUsed == "just now")
        let page = try await owner.browser.open("/apps/\(client.id)").clientPage
        #expect(page.use?.users == "1 user" && page.use?.lastUsed == "just now")
    }

    @Test(arguments: ["/admin/apps", "/apps"])
    func `long lists are shown in pages with the same filter`(path: String) async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .owner)
        let ownerName = try #require(Username("ada"))
        let owner = try #require(try await test.store.user(named: ownerName))
        for number in 100..<160 {
            var client = try RegisteredClient.named("app_\(number)", owner: owner.id, createdAt: test.clock.now)
            client.presentation.name = "Album \(number)"
            #expect(try await test.store.addClient(client) == .added)
        }
        for order in ["name", "newest"] {
            var next: String? = path + "?search=album&order=\(order)"
            var seen: [String] = []
            var counts: [String?] = []
            while let url = next {
                let reply = try await administrator.browser.open(url)
                let page: (clients: [ClientSummary], count: String?, next: String?)
                if path == "/apps" {
                    let own = try reply.clientsPage
                    page = (own.clients, own.count, own.next)
                } else {
                    let all = try reply.administrationPage
                    page = (all.clients, all.count, all.next)
                }
                seen += page.clients.map(\.clientID)
                counts.append(page.count)
                next = page.next
            }
            let expected = (100..<160).map { "app_\($0)" }
            #expect(seen == (order == "name" ? expected : expected.reversed()) && counts == ["60 apps", nil])
        }
    }

    // A filter that is not understood does not widen the answer.
    @Test(arguments: [
        "search=%00", "search=" + String(repeating: "a", count: 1001), "state=off", "order=owner", "after=a", "id=%00",
        "after=A&id=app_x", "order=newest&after=album&id=app_x", "after=a&after=b&id=app_x", "page=2", "search=%ZZ",
    ])
    func `a filter that is not understood finds no app`(query: String) async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .owner)
        let reply = try await administrator.browser.open("/admin/apps?\(query)")
        #expect(reply.status == .badRequest)
        let page = try reply.administrationPage
        #expect(page.clients.isEmpty && page.next == nil && page.count == nil && !page.problems.isEmpty)
        #expect(try await administrator.browser.open("/apps?\(query)").status == .badRequest)
    }
}
