import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// `/admin/server`, `/admin/settings` and the pages beside them: the state of the server, and what is wrong with it.
struct ServerPageTests {
    private static let findings = [
        ServerFinding(.sound, "store", "the store answers"),
        ServerFinding(.fault, "backup-old", "the last backup is <old>", mend: "check the timer"),
        ServerFinding(.advice, "keys-old", "the oldest key has signed for 120 days", mend: "run key rotate"),
    ]

    private static func fact(_ name: String, on page: ServerPage) -> String? {
        page.facts.first { $0.name == name }?.value
    }

    @Test func `findings of each severity are shown with their remedies, faults first`() async throws {
        let reporter = ScriptedInstallation { $0.findings = Self.findings }
        let test = try await TestServer(reporter: reporter)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let reply = try await administrator.browser.open("/admin/server")
        let page = try reply.serverPage
        #expect(page.findings.map(\.topic) == ["backup-old", "keys-old", "store"])
        #expect(page.findings.map(\.isFault) == [true, false, false] && page.findings[1].isAdvice)
        let html = try reply.html()
        #expect(html.contains("the last backup is &lt;old&gt;") && html.contains("check the timer"))
        #expect(Self.fact("Database", on: page) == "SQLite 3.46.1")
        #expect(Self.fact("Size", on: page) == "3 MiB, of which 1 MiB are free for new records")
        #expect(Self.fact("Last backup", on: page) == "counterfoil-server backup has never made one.")
        #expect(Self.fact("Maintenance", on: page) == "By no server at the moment")
        #expect(Self.fact("Last heartbeat", on: page) == "None")
        #expect(reporter.checks == 0)
    }

    @Test func `the lease, the heartbeat, old backups and an expired certificate are shown`() async throws {
        let reporter = ScriptedInstallation()
        let test = try await TestServer(reporter: reporter)
        let start = test.clock.now
        reporter.change { script in
            script.state?.backup = .made(start.addingTimeInterval(-10 * 86_400))
            script.state?.certificate = InstallationState.Certificate(
                validity: DateInterval(start: start.addingTimeInterval(-86_400), end: start.addingTimeInterval(-60)))
            script.state?.servers = [
                InstallationState.Server(name: "db1 (process 7)", isThis: true),
                InstallationState.Server(name: "db2 (process 9)", isThis: false),
            ]
        }
        try await test.store.recordService(at: start, outageAfter: 5)
        #expect(
            try await test.store.takeMaintenanceLease(
                LeaseHolder(), until: start.addingTimeInterval(150), at: start))
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/server").serverPage
        #expect(Self.fact("Maintenance", on: page)?.hasPrefix("By another server.") == true)
        #expect(Self.fact("Last heartbeat", on: page) == "just now")
        #expect(Self.fact("Certificate", on: page)?.hasPrefix("Expired on") == true)
        #expect(Self.fact("This server", on: page) == "db1 (process 7)")
        #expect(Self.fact("Another server", on: page) == "db2 (process 9)")
    }

    // SEC-889
    @Test func `checks of other hosts start by a form only, and are limited`() async throws {
        let reporter = ScriptedInstallation { $0.slowFindings = Self.findings }
        let test = try await TestServer(reporter: reporter)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/server").serverPage
        let form = FormParameters(["ticket": try #require(page.ticket)])
        let checked = try await administrator.browser.submit(form, to: page.action).serverPage
        #expect(checked.isChecked && checked.findings.count == 3)
        reporter.change { $0.slowFindings = nil }
        let late = try await administrator.browser.submit(form, to: page.action).serverPage
        #expect(!late.isChecked && late.remark != nil)
        let forged = FormParameters(["ticket": ""])
        #expect(try await administrator.browser.submit(forged, to: page.action).status == .forbidden)
        for _ in 3...6 { _ = try await administrator.browser.submit(form, to: page.action) }
        let refused = try await administrator.browser.submit(form, to: page.action)
        #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] != nil)
        #expect(reporter.checks == 6)
    }

    @Test func `a state that cannot be read leaves the findings, and a program without reports the rest`()
        async throws
    {
        let reporter = ScriptedInstallation { script in
            script.state = nil
            script.findings = [ServerFinding(.fault, "store-fails", "the store fails", mend: "see the log")]
        }
        let test = try await TestServer(reporter: reporter)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let failed = try await administrator.browser.open("/admin/server").serverPage
        #expect(failed.findings.map(\.topic) == ["store-fails"])
        #expect(Self.fact("Database", on: failed) == nil && Self.fact("Version", on: failed) == Build.version)

        let other = try await TestServer()
        var second = try await Developer("ada", of: other, role: .administrator)
        let page = try await second.browser.open("/admin/server").serverPage
        #expect(page.findings.isEmpty && page.ticket == nil && page.certificatePath == nil)
        #expect(try await second.browser.open("/admin/settings").settingsPage.groups.isEmpty)
        #expect(try await second.browser.open("/admin/server/certificate").status == .notFound)
    }

    // SEC-889
    @Test func `the settings say where each value comes from, and show no secret`() async throws {
        let reporter = ScriptedInstallation { script in
            script.settings = [
                ReportedSettings(
                    title: "Lifetimes",
                    settings: [
                        ReportedSetting(name: "issuer", value: .one("https://id.example.com"), origin: .option),
                        ReportedSetting(
                            name: "server-key", value: .secret, origin: .variable("COUNTERFOIL_SERVER_KEY")),
                        ReportedSetting(
                            name: "trusted-proxy", value: .many(["10.0.0.0/8", "::1"]),
                            origin: .file(path: "/etc/server.yaml", line: 3), waitsForRestart: true),
                        ReportedSetting(name: "mail-server", value: .missing, origin: .standard),
                    ])
            ]
        }
        let test = try await TestServer(reporter: reporter)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let reply = try await administrator.browser.open("/admin/settings")
        let rows = try #require(try reply.settingsPage.groups.first).rows
        #expect(
            rows.map(\.origin) == [
                "Option --issuer", "Variable COUNTERFOIL_SERVER_KEY", "/etc/server.yaml, line 3", "Default",
            ])
        #expect(rows.map(\.values) == [["https://id.example.com"], [], ["10.0.0.0/8", "::1"], []])
        #expect(rows.map(\.remark) == [nil, "Set, but never shown", nil, "Not set"])
        #expect(rows.map(\.waitsForRestart) == [false, false, true, false])
        #expect(try reply.html().contains("Another value waits for a restart"))
    }

    @Test func `a new certificate is requested once, by an event of the administrator`() async throws {
        let reporter = ScriptedInstallation { script in
            script.ordersCertificate = true
            script.state?.certificate = InstallationState.Certificate()
        }
        let test = try await TestServer(reporter: reporter)
        let holder = LeaseHolder()
        let (now, digest) = (test.clock.now, ArtefactDigest(of: ClientSecret()))
        #expect(try await test.store.takeOrderLease(holder, until: now.addingTimeInterval(30), at: now))
        #expect(
            try await test.store.storeCertificate(
                IssuedCertificate(chain: "chain", sealedKey: [1], authority: "https://ca.example", storedAt: now),
                orderedWith: digest, by: holder))
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/server/certificate").certificatePage
        #expect(page.validity == "There is no certificate yet.")
        let form = FormParameters(["ticket": try #require(page.ticket)])
        #expect(try await administrator.browser.submit(form, to: page.action).serverPage.notice != nil)
        #expect(try await test.store.issuedCertificate()?.isRenewalRequested == true)
        _ = try await administrator.browser.submit(form, to: page.action).serverPage
        let details = try await test.store.audit(AuditQuery(kind: .setting)).map(\.event.detail)
        #expect(details == ["requested a new certificate"])
    }

    @Test func `a registration token is shown once, and removed with an event`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let empty = try await administrator.browser.open("/admin/registration-tokens").registrationTokensPage
        #expect(empty.rows.isEmpty && empty.newToken == nil)
        let wrong = FormParameters(["ticket": empty.ticket, "decision": "add", "name": " ", "days": "9999"])
        let refused = try await administrator.browser.submit(wrong, to: empty.action)
        #expect(refused.status == .badRequest)
        #expect(try refused.registrationTokensPage.problems.map(\.field) == ["name", "days"])
        let right = FormParameters(["ticket": empty.ticket, "decision": "add", "name": "Build", "days": "30"])
        let added = try await administrator.browser.submit(right, to: empty.action).registrationTokensPage
        let text = try #require(added.newToken)
        let token = try #require(try await test.store.initialAccessTokens().first)
        #expect(token.expiresAt == test.clock.now.addingTimeInterval(30 * 86_400))
        #expect(added.rows.map(\.id) == [token.shortID])
        let shown = try await administrator.browser.open(empty.action)
        #expect(try shown.registrationTokensPage.newToken == nil && !shown.html().contains(text))
        let removal = FormParameters(["ticket": added.ticket, "decision": "remove", "token": token.shortID])
        #expect(try await administrator.browser.submit(removal, to: added.action).registrationTokensPage.rows.isEmpty)
        let details = try await test.store.audit(AuditQuery(kind: .setting)).compactMap(\.event.detail)
        #expect(
            details == [
                "removed the registration token \(token.shortID)", "added the registration token \(token.shortID)",
            ])
    }

    @Test func `a test mail tells what the mail server answered`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/mail/test").testMailPage
        #expect(page.address.value == "ada@example.com")
        func submit(_ address: String) async throws -> Reply {
            try await administrator.browser.submit(
                FormParameters(["ticket": page.ticket, "email": address]), to: page.action)
        }
        #expect(try await submit("nobody").testMailPage.problems.map(\.field) == ["email"])
        #expect(try await submit("bob@example.com").testMailPage.result?.contains("bob@example.com") == true)
        #expect(recorder.mails.map(\.recipient.rawValue) == ["bob@example.com"])
        recorder.answers(.refused("refused", reply: "550 no such user"))
        let refused = try await submit("eve@example.com")
        #expect(refused.status == .unprocessableContent)
        #expect(try refused.testMailPage.problems.first?.text.contains("550 no such user") == true)
        let details = try await test.store.audit(AuditQuery(kind: .setting)).compactMap(\.event.detail)
        #expect(details.filter { $0.contains("mail") } == ["sent a test mail"])
    }

    @Test func `an export of a user is an event before the file is sent, and a large one is refused`() async throws {
        let reporter = ScriptedInstallation { $0.export = .records(Array("{}".utf8)) }
        let test = try await TestServer(reporter: reporter)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let path = "/admin/users/\(test.alice.id)"
        let page = try await administrator.browser.open(path).userAccountPage
        #expect(page.canExport)
        let form = FormParameters(["ticket": page.ticket, "decision": "export"])
        let file = try await administrator.browser.send(.post, to: page.action, form: form)
        #expect(file.status == .ok && file.fields[.contentDisposition]?.contains("\(test.alice.id).json") == true)
        let details = try await test.store.audit(AuditQuery(kind: .account)).compactMap(\.event.detail)
        #expect(details == ["another account: exported", "by an administrator: exported"])
        reporter.change { $0.export = .tooLarge }
        let refused = try await administrator.browser.submit(form, to: page.action).userAccountPage
        #expect(refused.notice?.contains("too large") == true)
        #expect(try await test.store.audit(AuditQuery(kind: .account)).count == 2)
    }
}
