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
        administrator = try await Developer("ada", of: test, role: .administrator)
    }

    /// A time at which no event is added any more, so that an export has those of it.
    private var settled: Date { test.clock.now.addingTimeInterval(-AuditPosition.settlingTime - 1) }

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
        "before=%00", "person=%ZZ", "%FF=1", "outcom=refused", "user=alice", "zone=Middle-earth",
        "zone=..%2F..%2Fetc%2Fpasswd", "zone=%00", "zone=UTC&zone=GMT", "since=2027-01-31&until=2027-01-31",
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
            "since": page.since.problem, "until": page.until.problem, "zone": page.zone.problem,
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

    @Test mutating func `the page of an app leads administrators to the sign-ins to it`() async throws {
        _ = try await Attempt(test).authorize()
        let url = try #require(try await administrator.browser.open("/apps/app_lightbox").clientPage.paths.signIns)
        let rows = try await administrator.browser.open(url).auditPage.rows
        #expect(rows.map(\.user?.description) == ["alice"] && rows.map(\.clientID) == ["app_lightbox"])
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        #expect(try await owner.browser.open("/apps/\(client.id)").clientPage.paths.signIns == nil)
    }

    @Test mutating func `a filter stays on the next page, with its time zone`() async throws {
        for number in 0..<60 {
            try await test.store.appendAudit(
                AuditEvent(at: test.clock.now, .setting, .refused, source: "192.0.2.9", detail: "\(number)"))
        }
        let filter = "kind=setting&outcome=refused&source=192.0.2.9&since=today&zone=Europe%2FOslo"
        let older = try #require(try await page("?" + filter).older)
        let path = "/admin/audit?kind=setting&outcome=refused&source=192.0.2.9&since=today&zone=Europe%2FOslo&before="
        #expect(older.hasPrefix(path))
        let second = try await page(String(older.dropFirst("/admin/audit".count)))
        #expect(second.rows.count == 10 && second.zone.value == "Europe/Oslo")
        #expect(second.source.value == "192.0.2.9" && second.kind.choices.contains { $0.isChosen && !$0.value.isEmpty })
    }

    @Test mutating func `times are read and shown in the time zone of the URL, and without one in UTC`() async throws {
        let time = test.clock.now
        try await test.store.appendAudit(AuditEvent(at: time, .setting, detail: "branding"))
        let zone = try #require(TimeZone(identifier: "Asia/Kolkata"))
        let local = Moment.text(time, in: zone).prefix(19)
        let page = try await page("?kind=setting&since=\(local)&zone=Asia%2FKolkata")
        let row = try #require(page.rows.first)
        #expect(row.detail == "branding" && row.universalTime == Moment.text(time))
        // The hour has one digit before ten.
        #expect(row.time.contains(local.suffix(6)), "\(row.time)")
        #expect(page.times == "Times are in Asia/Kolkata." && page.since.value == local)
        // 5.5 hours later, in UTC.
        #expect(try await self.page("?kind=setting&since=\(local)").rows.isEmpty)
        let universal = try await self.page("?kind=setting")
        #expect(universal.times == "Times are in UTC." && universal.zone.value == "UTC")
        #expect(try #require(universal.rows.first).time.contains(Moment.text(time, in: .gmt).prefix(19).suffix(6)))
        // The time zone alone is no filter.
        #expect(try await !self.page("?zone=Asia%2FKolkata").isFiltered)
    }

    private mutating func export(
        _ filter: String, as format: String, ticket: String? = nil
    ) async throws -> Reply {
        let export = try #require(try await page(filter.isEmpty ? "" : "?" + filter).export)
        #expect(export.filter == filter)
        return try await administrator.browser.submit(
            FormParameters(["ticket": ticket ?? export.ticket, "filter": export.filter, "format": format]),
            to: "/admin/audit")
    }

    private func text(_ reply: Reply, type: String) throws -> String {
        guard case .file(let bytes, let found) = reply.content else {
            Issue.record("the reply is no file")
            return ""
        }
        #expect(reply.status == .ok && found == type)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test mutating func `an export has the events of the filter, oldest first, and is an event itself`() async throws {
        _ = try await Attempt(test).authorize()
        for number in 0..<3 {
            try await test.store.appendAudit(
                AuditEvent(at: settled, .setting, userID: test.alice.id, detail: "\(number)"))
        }
        let csv = try await export("kind=setting&person=alice", as: "csv")
        let lines = try text(csv, type: "text/csv; charset=utf-8").components(separatedBy: "\r\n")
        #expect(lines.count == 5 && lines.first.map { $0 + "\r\n" } == AuditDocument.header)
        #expect(lines.dropFirst().prefix(3).map { String($0.suffix(4)) } == [",\"0\"", ",\"1\"", ",\"2\""])
        #expect(lines[1].contains(#""setting","done","","\#(test.alice.id)","alice","","#))
        let name = try #require(csv.fields[.contentDisposition])
        #expect(name.hasPrefix("attachment; filename=\"audit-2") && name.hasSuffix("Z.csv\""))

        let json = try text(
            try await export("kind=setting", as: "ndjson"), type: "application/x-ndjson")
        let objects = try json.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["detail"] as? String } == ["0", "1", "2"])
        let events = try await test.store.audit(AuditQuery(kind: .auditExport)).map(\.event)
        #expect(
            events.map(\.detail) == ["ndjson, 3 events, filtered by kind", "csv, 3 events, filtered by kind, person"])
        #expect(events.allSatisfy { $0.outcome == .done && $0.userID != nil && $0.requestID != nil })
        #expect(test.server.metrics.snapshot.audited.filter { $0.key.kind == .auditExport }.map(\.value) == [2])
    }

    @Test mutating func `no cell of an export begins a formula`() async throws {
        for start in ["=", "+", "-", "@", "\t=", "\r=", "\u{FF1D}", "\"=", " ="] {
            try await test.store.appendAudit(
                AuditEvent(at: settled, .setting, detail: start + "cmd|' /C calc'!A0,\"1\"\n2"))
        }
        try await test.store.appendAudit(
            AuditEvent(at: settled, .setting, clientID: ClientIdentifier("=1+1"), requestID: "-1+1"))
        let csv = try text(try await export("kind=setting", as: "csv"), type: "text/csv; charset=utf-8")
        for start in ["=", "+", "-", "@", "\t=", "\r=", "\u{FF1D}"] {
            #expect(csv.contains("\"'\(start)cmd|' /C calc'!A0,\"\"1\"\"\n2\"\r\n"), "\(start)")
        }
        #expect(csv.contains("\"\"\"=cmd") && csv.contains("\" =cmd"))
        #expect(csv.contains("\"'=1+1\"") && csv.contains("\"'-1+1\""))
        for cell in ["\"=", "\"+", "\"-", "\"@", "\"\t", "\"\r\""] { #expect(!csv.contains("," + cell), "\(cell)") }
    }

    // An event whose position is not settled can get another one before it.
    @Test mutating func `an export leaves out the events of the last 10 minutes, and the page says so`() async throws {
        try await test.store.appendAudit(AuditEvent(at: settled, .setting, detail: "old"))
        try await test.store.appendAudit(AuditEvent(at: test.clock.now, .setting, detail: "new"))
        #expect(try await page().export?.about.contains("last 10 minutes") == true)
        let csv = try text(try await export("kind=setting", as: "csv"), type: "text/csv; charset=utf-8")
        #expect(csv.contains("\"old\"") && !csv.contains("\"new\""))
    }

    // The quote and the character after it are one Character.
    @Test mutating func `a quote before a combining character is doubled`() async throws {
        let detail = "a\"\u{301},=1+1"
        try await test.store.appendAudit(AuditEvent(at: settled, .setting, detail: detail))
        let csv = try text(try await export("kind=setting", as: "csv"), type: "text/csv; charset=utf-8")
        #expect(csv.range(of: "a\"\"\u{301},=1+1", options: .literal) != nil)
    }

    // The script loads such a page again, which would drop the answer to a POST.
    @Test mutating func `only a page of a GET request without a time zone asks for that of the browser`() async throws {
        #expect(try await page().asksForZone)
        #expect(try await administrator.browser.open("/admin/audit").html().contains("data-zone"))
        #expect(try await !page("?zone=UTC").asksForZone)
        let ticket = try #require(try await page().export).ticket
        let refused = try await administrator.browser.submit(
            FormParameters(["ticket": ticket, "filter": "kind=nothing", "format": "csv"]), to: "/admin/audit")
        #expect(refused.status == .badRequest)
        #expect(try !refused.auditPage.asksForZone)
        #expect(try !refused.html().contains("data-zone"))
    }

    @Test mutating func `an export without its form, its event or a filter that is understood sends no event`()
        async throws
    {
        try await test.store.appendAudit(AuditEvent(at: test.clock.now, .setting, detail: "branding"))
        let forged = try await export("kind=setting", as: "csv", ticket: "forged")
        #expect(forged.status != .ok)
        guard case .page = forged.content else {
            Issue.record("a forged ticket got an export")
            return
        }
        let ticket = try #require(try await page().export).ticket
        for (filter, format) in [("kind=nothing", "csv"), ("outcom=done", "csv"), ("kind=setting", "exe")] {
            let reply = try await administrator.browser.submit(
                FormParameters(["ticket": ticket, "filter": filter, "format": format]), to: "/admin/audit")
            #expect(reply.status == .badRequest)
            let shown = try reply.auditPage
            #expect(shown.rows.isEmpty && shown.problems.count == 1, "\(filter)")
        }
        #expect(try await test.store.audit(AuditQuery(kind: .auditExport)).isEmpty)
        // A GET request with the fields of the form exports nothing.
        #expect(try await page("?format=csv", status: .badRequest).rows.isEmpty)

        var developer = try await Developer("dora", of: test)
        let own = try await developer.browser.open("/account").accountPage.console.signOutTicket
        let refused = try await developer.browser.submit(
            FormParameters(["ticket": own, "filter": "", "format": "csv"]), to: "/admin/audit")
        #expect(refused.status == .notFound)
        #expect(try await test.store.audit(AuditQuery(kind: .auditExport)).isEmpty)
    }

    @Test func `an export whose event cannot be stored is not sent`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let export = try #require(try await administrator.browser.open("/admin/audit").auditPage.export)
        store.fail(.appendAudit)
        let reply = try await administrator.browser.submit(
            FormParameters(["ticket": export.ticket, "filter": "", "format": "csv"]), to: "/admin/audit")
        #expect(reply.status == .serviceUnavailable)
        guard case .page = reply.content else {
            Issue.record("an export was sent without its event")
            return
        }
        store.recover()
        #expect(try await store.audit(AuditQuery(kind: .auditExport)).isEmpty)
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
