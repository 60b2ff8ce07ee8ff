import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// `/admin/audit`, the page of the audit log.
struct AuditPageTests {
    private let test: TestServer
    private var administrator: Developer

    init() async throws {
        test = try await TestServer()
        administrator = try await Developer("ada", of: test, isAdministrator: true)
    }

    private mutating func page(_ query: String = "", status: HTTPResponse.Status = .ok) async throws -> AuditPage {
        let reply = try await administrator.browser.open("/admin/audit" + query)
        #expect(reply.status == status)
        return try reply.auditPage
    }

    @Test mutating func `administrators read and filter the audit log`() async throws {
        _ = try await Attempt(test).authorize()
        let all = try await page()
        #expect(all.rows.count == 3)
        let consent = try #require(all.rows.first)
        #expect(consent.what == "Consent")
        #expect(consent.user?.description == "alice")
        #expect(consent.client?.description == "Lightbox")
        #expect(consent.source == "192.0.2.1")
        #expect(consent.detail == "photos.read")
        #expect(!consent.isRefused)
        #expect(try await page("?kind=sign-in").rows.count == 2)
        #expect(try await page("?kind=sign-in&person=alice").rows.count == 1)
        #expect(try await page("?client=app_lightbox").rows.count == 2)
        #expect(try await page("?since=2027-01-01").rows.count == 3)
        #expect(try await page("?since=2030-01-01").rows.isEmpty)
        #expect(all.paths.isAtAudit)
        #expect(!all.isFiltered)
        #expect(try await page("?kind=sign-in").isFiltered)
        #expect(try await page("?person=nobody", status: .badRequest).isFiltered)
    }

    @Test mutating func `a refusal shows its reason and reference, and every filter of the command has a field`()
        async throws
    {
        var browser = test.browser(source: "198.51.100.7")
        let reply = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: "alice", password: "not the password")
        let reference = try #require(reply.frame?.reference)
        let row = try #require(try await page("?request=\(reference)&outcome=refused").rows.first)
        #expect(row.reason == "wrong_password" && row.detail == nil && row.request == reference && row.isRefused)
        #expect(try await page("?source=198.51.100.7").rows == [row])
        #expect(try await page("?outcome=refused").rows == [row])
        #expect(try await page("?outcome=done").rows.allSatisfy { $0.request == nil && $0.reason == nil })
        let time = test.clock.now.formatted(.iso8601).dropLast(4)
        #expect(try await page("?outcome=refused&since=\(time)").since.value == time + ":00")
        #expect(try await page("?until=\(time)").rows.isEmpty)
        #expect(try await page("?since=2027-01-01T03:12&outcome=refused").rows == [row])
        #expect(try await page("?until=soon", status: .badRequest).until.problem != nil)
    }

    @Test mutating func `the events of a deleted user are found by the pseudonym`() async throws {
        _ = try await Attempt(test).authorize()
        let terms = try World.terms(of: test.alice)
        let event = AuditEvent(at: test.clock.now, .account, userID: terms.pseudonym, detail: "deleted")
        #expect(
            try await test.store.beginRemoval(of: test.alice.id, by: terms, recording: event, at: test.clock.now)
                == .begun([]))
        try await test.server.maintenance.deleteAllExpired()
        let rows = try await page("?person=\(terms.pseudonym)").rows
        #expect(rows.count == 3 && rows.allSatisfy { $0.user?.description == terms.pseudonym.rawValue })
        #expect(rows.map(\.detail) == ["deleted", "photos.read", nil])
        #expect(rows.allSatisfy { $0.source.isEmpty })
        #expect(try await page("?person=alice", status: .badRequest).user.problem != nil)
    }

    @Test mutating func `an event shows whether a command or the server caused it`() async throws {
        let details = ["ES256 rotated by age", "at the command line: ES256", nil]
        for detail in details {
            try await test.store.appendAudit(AuditEvent(at: test.clock.now, .signingKey, detail: detail))
        }
        let rows = try await page("?kind=signing-key").rows
        let sources = ["ES256 rotated by age": "the server", "at the command line: ES256": "a terminal of the server"]
        for row in rows where details.contains(row.detail) {
            #expect(row.source == row.detail.map { sources[$0] ?? "" } ?? "")
        }
        #expect(rows.count { $0.source == "a terminal of the server" } == 1)
    }

    @Test mutating func `an invalid filter is marked`() async throws {
        #expect(try await page("?person=nobody", status: .badRequest).user.problem != nil)
        #expect(try await page("?since=tomorrow", status: .badRequest).since.problem != nil)
        #expect(try await page("?client=a%0Ab", status: .badRequest).client.problem != nil)
        // White space alone is no filter.
        #expect(try await !page("?client=%20%0A&person=%C2%A0&since=%20").rows.isEmpty)
    }

    @Test(arguments: [
        "kind=nothing", "kind=%00", "kind=sign-in&kind=sign-out", "outcome=Refused", "outcome=%00", "person=nobody",
        "person=a%00", "client=a%0Ab", "client=%00", "source=192.0.2", "source=alice", "source=%00",
        "request=two+words", "request=%00", "since=tomorrow", "since=%00", "until=soon", "before=1", "before=x.1",
        "before=%00", "person=%ZZ", "%FF=1", "outcom=refused", "user=alice",
    ])
    mutating func `a filter that is not understood shows no event, and says what is wrong`(filter: String)
        async throws
    {
        let page = try await page("?outcome=done&" + filter, status: .badRequest)
        #expect(page.rows.isEmpty && page.older == nil && page.isFiltered)
        let problem = try #require(page.problems.first)
        #expect(page.problems.count == 1 && !problem.text.isEmpty)
        let problems = [
            "kind": page.kind.problem, "outcome": page.outcome.problem, "person": page.user.problem,
            "client": page.client.problem, "source": page.source.problem, "request": page.request.problem,
            "since": page.since.problem, "until": page.until.problem,
        ]
        #expect(problems.compactMap(\.value) == (problem.field == nil ? [] : [problem.text]))
        if let field = problem.field { #expect(problems[field] == problem.text) }
    }

    @Test mutating func `older events are on the next page`() async throws {
        for number in 0..<70 {
            try await test.store.appendAudit(AuditEvent(at: test.clock.now, .setting, detail: "\(number)"))
        }
        let first = try await page("?kind=setting")
        #expect(first.rows.count == 50)
        #expect(first.rows.first?.detail == "69")
        let older = try #require(first.older)
        #expect(older.hasPrefix("/admin/audit?kind=setting&before="))
        let second = try await page(String(older.dropFirst("/admin/audit".count)))
        #expect(second.rows.map(\.detail) == (0..<20).reversed().map { "\($0)" })
        #expect(second.older == nil)
    }

    @Test mutating func `an event of a newer version is shown by the name of its kind`() async throws {
        try await test.store.appendAudit(
            AuditEvent(
                at: test.clock.now, AuditEvent.Kind(rawValue: "face-scan"), AuditEvent.Outcome(rawValue: "deferred")))
        let row = try #require(try await page().rows.first)
        #expect(row.what == "face-scan" && row.outcome == "deferred" && !row.isRefused)
    }

    @Test func `users who are not administrators cannot read the audit log`() async throws {
        var developer = try await Developer("dora", of: test)
        #expect(try await developer.browser.open("/admin/audit").status == .notFound)
        var stranger = test.browser()
        _ = try await stranger.open("/admin/audit").signInPage
    }
}
