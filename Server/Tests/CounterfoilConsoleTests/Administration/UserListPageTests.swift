import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The search of `/admin/users`.
struct UserListPageTests {
    private let test: TestServer
    private var administrator: Developer

    init() async throws {
        test = try await TestServer()
        administrator = try await Developer("root", of: test, role: .owner)
    }

    @Test mutating func `the search is in the URL, and shows what it found`() async throws {
        let zoe = try await test.addUser("zoe", email: "zoe@example.com")
        #expect(try await test.store.disableUser(zoe.id, at: test.clock.now, recording: []) == .changed)
        let page = try await administrator.browser.open("/admin/users?search=ZO&state=disabled").usersPage
        #expect(page.rows.map(\.username) == ["zoe"] && page.count == "1 user" && page.isFiltered)
        let row = try #require(page.rows.first)
        #expect(row.path == "/admin/users/\(zoe.id)" && row.isDisabled && row.role == nil && row.lastSignIn == nil)
        let all = try await administrator.browser.open("/admin/users").usersPage
        #expect(all.rows.contains { $0.username == "root" && $0.role == "Owner" && $0.lastSignIn == "just now" })
        let none = try await administrator.browser.open("/admin/users?search=%25&state=&role=&day=").usersPage
        #expect(none.rows.isEmpty && none.next == nil && none.problems.isEmpty)
        let start = try await administrator.browser.open("/admin").overviewPage
        #expect(start.cards.contains { $0.path == "/admin/users" && $0.count.hasSuffix("users") })
    }

    // A filter that is not understood does not widen the answer.
    @Test(arguments: [
        "search=%00", "search=" + String(repeating: "a", count: 1001), "state=off", "role=root", "signed_in=before",
        "signed_in=never&day=2027-01-31", "day=2027-01-31", "signed_in=since&day=soon", "no_passkey=yes",
        "after=1801387800123456,42", "after=%00", "after=a&after=b", "before=a", "search=a&search=b", "search=%ZZ",
    ])
    mutating func `a filter that is not understood finds no one`(query: String) async throws {
        let reply = try await administrator.browser.open("/admin/users?\(query)")
        #expect(reply.status == .badRequest)
        let page = try reply.usersPage
        #expect(page.rows.isEmpty && page.next == nil && page.count == nil && !page.problems.isEmpty)
    }

    @Test mutating func `long lists are shown in pages with the same filter`() async throws {
        for number in 100..<160 { _ = try await test.addUser("user\(number)") }
        var path: String? = "/admin/users?search=user&no_passkey=on"
        var seen: [String] = []
        var counts: [String?] = []
        while let next = path {
            let page = try await administrator.browser.open(next).usersPage
            seen += page.rows.map(\.username)
            counts.append(page.count)
            path = page.next
        }
        #expect(seen == (100..<160).map { "user\($0)" })
        #expect(counts == ["60 users", nil])
    }
}
