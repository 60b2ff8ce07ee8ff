import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The first page of the administration.
struct OverviewTests {
    @Test func `the first administrator of a new server comes to the steps, and sees which are done`() async throws {
        let test = try await TestServer(reporter: ScriptedInstallation())
        _ = try await test.store.removeClient(test.lightbox.id)
        let link = try #require(try await test.server.openSetup())
        var browser = test.browser()
        let form = FormParameters([
            "token": String(link.split(separator: "=").last ?? ""), "username": "root", "email": "",
            "password": TestServer.password,
        ])
        let done = try await browser.submit(form, to: "/setup")
        let signInPath = try #require(done.page as? SetupDonePage).signInPath
        let signIn = try await browser.open(signInPath).signInPage
        let arrived = try await browser.submit(
            signIn.form(username: "root", password: TestServer.password), to: signIn.action)
        let page = try arrived.overviewPage
        // The server has alice and the scopes of tests. A missing backup is a step yet, and no alarm.
        #expect(page.steps.filter(\.isDone).map(\.name) == ["Users", "Scopes"])
        #expect(page.attention.isEmpty)
        let html = try arrived.html()
        #expect(html.contains("<code>counterfoil-server backup "))
        for path in ["/admin/users/new", "/admin/scopes/new", "/admin/apis/new", "/apps/new", "/admin/branding"] {
            #expect(html.contains("href=\"\(path)\""), "\(path)")
        }
        _ = try await test.register("Darkroom", redirectURIs: ["http://127.0.0.1/cb"])
        #expect(try await browser.open("/admin").overviewPage.steps.isEmpty)
        var other = try await Developer("dora", of: test)
        #expect(try await other.browser.open("/admin").status == .notFound)
    }

    @Test func `a page with a database says nothing of the files of backups`() async throws {
        let test = try await TestServer()
        _ = try await test.store.removeClient(test.lightbox.id)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let reply = try await administrator.browser.open("/admin")
        #expect(try reply.overviewPage.steps.last?.command == nil)
        #expect(try !reply.html().contains("counterfoil-server backup"))
    }

    @Test func `what wants attention comes first, and goes when it is done`() async throws {
        let start = FixedClock().now
        func days(_ days: Double) -> Date { start + days * 86_400 }
        let installation = ScriptedInstallation()
        func change(backup: Date, certificate: DateInterval) {
            installation.change {
                $0.state?.backup = .made(backup)
                $0.state?.certificate = InstallationState.Certificate(validity: certificate)
            }
        }
        change(backup: days(-3), certificate: DateInterval(start: days(-80), end: days(10)))
        let test = try await TestServer(reporter: installation, mailSender: MailRecorder()) {
            $0.newClients = .pending
        }
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        let email = try await owner.browser.open("/account/email").emailPage
        _ = try await owner.browser.submit(email.form("send"), to: email.action)
        test.clock.advance(by: 2000)

        let reply = try await administrator.browser.open("/admin?zone=Europe%2FOslo")
        let attention = try reply.overviewPage.attention
        #expect(attention.map(\.isUrgent) == [true, true, true, true, false])
        for (found, expected) in zip(
            attention,
            [
                "The certificate expires on 25 Jan 2027 at 9:00", "The last backup is from 12 Jan 2027 at 9:00",
                "One email has waited since 15 Jan 2027 at 9:00",
                "No server has sealed the audit log since 15 Jan 2027 at 9:00",
                "One app waits for approval.",
            ])
        {
            #expect(found.text.hasPrefix(expected), "\(found.text)")
        }
        #expect(
            attention.map(\.path) == [
                "/admin/server/certificate", nil, "/admin/mail/test", "/admin/audit", "/admin/apps?state=pending",
            ])
        #expect(try reply.html().contains("<a href=\"/admin/apps?state=pending\">Apps</a>"))
        var auditor = try await Developer("olga", of: test, role: .auditor)
        let read = try await auditor.browser.open("/admin").overviewPage.attention
        #expect(read.allSatisfy { $0.path != "/admin/mail/test" })

        change(backup: days(-3), certificate: DateInterval(start: days(-90), end: start))
        let ended = try await administrator.browser.open("/admin").overviewPage.attention.first?.text
        #expect(ended?.hasPrefix("The certificate expired on 15 Jan 2027 at 8:00") == true)
        change(backup: days(-1), certificate: DateInterval(start: start, end: days(90)))
        while await (try #require(test.server.mailDelivery)).deliverDue() > 0 {}
        try await test.server.maintenance.sealAudit()
        try await test.change(client) { $0.approval = .approved }
        #expect(try await administrator.browser.open("/admin").overviewPage.attention == [])

        let service = try await test.addService().client
        try await test.change(service) { $0.policy.machineScope = Scope() }
        let last = try #require(try await administrator.browser.open("/admin").overviewPage.attention.last)
        #expect(last.text == "One service waits for the approval of permissions without a user." && !last.isUrgent)
        let list = try await administrator.browser.open(try #require(last.path)).administrationPage
        #expect(list.clients.map(\.clientID) == [service.id.rawValue] && list.waiting.map(\.text) == [last.text])
    }

    @Test func `a server in use without any backup wants one`() async throws {
        let test = try await TestServer(reporter: ScriptedInstallation())
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let attention = try await administrator.browser.open("/admin").overviewPage.attention
        #expect(attention.count == 1 && attention.first?.text.contains("no backup") == true)
    }

    @Test func `charts and table show what the servers have counted, in the range and time zone of the URL`()
        async throws
    {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        _ = try await administrator.browser.open("/admin")
        try await test.server.heartbeat.beat()
        let reply = try await administrator.browser.open("/admin")
        let activity = try #require(try reply.overviewPage.activity)
        #expect(activity.charts.map(\.name) == ["Sign-ins", "Failed sign-ins", "Token refreshes", "New users"])
        #expect(activity.charts.map(\.total) == ["1", "0", "0", "2"])
        #expect(activity.rows.count == 24 && activity.rows.first?.period == "15 Jan 2027 at 8:00")
        #expect(activity.rows.first?.cells.map(\.count) == ["1", "0", "0", "2"])
        #expect(activity.charts.first?.about == "Most: 1 in the period from 15 Jan 2027 at 8:00.")
        #expect(activity.charts[1].about == "None in the whole period.")
        #expect(activity.asksForZone && activity.times == "Times are in UTC.")
        let html = try reply.html()
        #expect(html.matches(of: /<svg class="soft chart"[^>]* role="img" aria-labelledby="/).count == 4)
        #expect(!html.contains("style="))
        #expect(html.contains("<title>15 Jan 2027 at 8:00: 2</title></rect>"))

        for (range, rows, first) in [
            ("7d", 26, "15 Jan 2027 at 6:00"), ("30d", 30, "15 January 2027"), ("12m", 12, "January 2027"),
        ] {
            let page = try await administrator.browser.open("/admin?range=\(range)&zone=Europe%2FOslo").overviewPage
            let activity = try #require(page.activity)
            #expect(activity.rows.count == rows && activity.rows.first?.period == first, "\(activity.rows)")
            #expect(activity.charts.map(\.total) == ["1", "0", "0", "2"])
            #expect(!activity.asksForZone && activity.times == "Times are in Europe/Oslo.")
            #expect(activity.ranges.filter(\.isCurrent).map(\.url) == ["/admin?range=\(range)&zone=Europe%2FOslo"])
        }
        let unknown = try await administrator.browser.open("/admin?range=1y&zone=Mars").overviewPage.activity
        #expect(unknown?.rows.count == 24 && unknown?.zone.problem != nil && unknown?.times == "Times are in UTC.")
    }

    @Test func `without a requested page, an administrator without apps comes to the administration`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        #expect(try await administrator.browser.open("/").page is OverviewPage)
        #expect(try await administrator.browser.open("/account").page is AccountPage)
        administrator.browser.cookies["__Host-counterfoil-session"] = nil
        let signIn = try await administrator.browser.open("/").signInPage
        let form = signIn.form(username: "ada", password: TestServer.password)
        #expect(try await administrator.browser.submit(form, to: signIn.action).page is OverviewPage)
        let consent = try await administrator.browser.open(Attempt(test).url)
        _ = try await administrator.browser.decide(.allow, on: consent)
        #expect(try await administrator.browser.open("/").page is AccountPage)
    }
}
