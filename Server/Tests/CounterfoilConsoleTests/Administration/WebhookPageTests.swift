import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// `/admin/webhooks`, on which administrators manage the receivers of events.
struct WebhookPageTests {
    private final class Receiver: WebhookSender {
        let status = Mutex(500)

        func send(_ request: WebhookRequest) async -> WebhookOutcome {
            .answered(status: status.withLock { $0 }, retryAfter: nil)
        }
    }

    private static func form(_ page: WebhookFormPage, _ fields: [(String, String)]) -> FormParameters {
        fields.reduce(FormParameters(["ticket": page.ticket, "revision": String(page.revision)])) {
            $0.adding($1.0, $1.1)
        }
    }

    private static func form(_ page: WebhookPage, _ decision: String, _ fields: [String: String] = [:])
        -> FormParameters
    {
        fields.sorted { $0.key < $1.key }.reduce(
            FormParameters(["ticket": page.ticket, "revision": String(page.revision), "decision": decision])
        ) { $0.adding($1.key, $1.value) }
    }

    private static func create(
        _ browser: inout ScriptedUserAgent, url: String = "https://hooks.example.com/events"
    ) async throws -> Reply {
        let page = try await browser.open("/admin/webhooks/new").webhookFormPage
        return try await browser.submit(
            form(page, [("url", url), ("label", "Photo <b>library"), ("types", "user.created")]), to: page.action)
    }

    @Test func `an administrator creates, pauses, replays, changes and deletes a webhook, each with its event`()
        async throws
    {
        let test = try await TestServer()
        var browser = try await Developer("ada", of: test, role: .administrator).browser
        let reply = try await Self.create(&browser)
        var page = try reply.webhookPage
        let secret = try #require(page.newSecret)
        #expect(secret.hasPrefix("whsec_"))
        #expect(try reply.html().contains("Photo &lt;b&gt;library"))
        #expect(page.types.names == "user.created" && page.state.isGood)
        let path = page.action
        page = try await browser.open(path).webhookPage
        #expect(page.newSecret == nil)
        for (decision, isActive) in [("pause", false), ("resume", true)] {
            page = try await browser.submit(Self.form(page, decision), to: path).webhookPage
            #expect(page.notice != nil && page.isActive == isActive)
        }
        let stale = page
        page = try await browser.submit(Self.form(page, "secret"), to: path).webhookPage
        #expect(page.newSecret != secret && page.newSecret != nil && page.formerSecretUntil != nil)
        let again = try await browser.submit(Self.form(stale, "secret"), to: path)
        #expect(again.status == .conflict)
        #expect(try again.webhookPage.newSecret == nil)
        let wrong = try await browser.submit(Self.form(page, "replay", ["since": "never"]), to: path)
        #expect(wrong.status == .badRequest)
        #expect(try wrong.webhookPage.since.value == "never")
        #expect(try wrong.webhookPage.problems.map(\.field) == ["since"])
        page = try await browser.submit(Self.form(page, "replay", ["since": "2h"]), to: path).webhookPage
        #expect(page.notice != nil)
        let edit = try await browser.open(page.editPath).webhookFormPage
        page = try await browser.submit(
            Self.form(edit, [("url", "https://hooks.example.com/v2"), ("label", "Library")]), to: edit.action
        ).webhookPage
        #expect(page.url == "https://hooks.example.com/v2" && page.types.names == nil && !page.types.isAll)
        #expect(try await browser.open("/admin/webhooks").webhooksPage.rows.map(\.url) == [page.url])
        let deletion = try await browser.open(page.deletePath).deleteRecordPage
        let list = try await browser.submit(
            FormParameters(["ticket": deletion.ticket]), to: deletion.action
        ).webhooksPage
        #expect(list.rows.isEmpty && list.notice != nil)
        let events = try await test.store.audit(AuditQuery(kind: .setting)).map(\.event)
        #expect(
            events.reversed().map(\.action) == [
                .webhookCreated, .webhookChanged, .webhookChanged, .webhookSecretReplaced, .webhookChanged,
                .webhookChanged, .webhookDeleted,
            ])
        #expect(events.allSatisfy { $0.userID != nil && $0.detail?.contains("whsec_") == false })
    }

    @Test func `a failed delivery is on the page, and its event is sent again by a button`() async throws {
        let receiver = Receiver()
        let test = try await TestServer(webhookSender: receiver)
        var browser = try await Developer("ada", of: test, role: .administrator).browser
        let path = try await Self.create(&browser).webhookPage.action
        try await test.store.appendAudit(AuditEvent(at: test.clock.now, .account, action: .userCreated))
        try await test.server.maintenance.sealAudit()
        let notifier = try #require(test.server.webhookNotifier)
        await notifier.deliverDue()
        var page = try await browser.open(path).webhookPage
        let failed = try #require(page.deliveries.first)
        #expect(failed.result == "500" && !failed.isDelivered && failed.type == "user.created")
        #expect(page.failingSince != nil && page.nextAttempt != nil && !page.state.isGood)
        receiver.status.withLock { $0 = 200 }
        page = try await browser.submit(
            Self.form(page, "resend", ["delivery": String(failed.number)]), to: path
        ).webhookPage
        #expect(page.notice != nil)
        await notifier.deliverDue()
        let resent = try #require(try await browser.open(path).webhookPage.deliveries.first)
        #expect(resent.isDelivered && resent.isResend && resent.event == failed.event)
        let unknown = try await browser.submit(Self.form(page, "resend", ["delivery": "999"]), to: path)
        #expect(unknown.status == .notFound)
    }

    @Test(arguments: ["http://hooks.example.com/", "https://10.0.0.7/", "hooks"])
    func `an invalid URL is marked at its field, with the typed values`(url: String) async throws {
        let test = try await TestServer()
        var browser = try await Developer("ada", of: test, role: .administrator).browser
        let reply = try await Self.create(&browser, url: url)
        #expect(reply.status == .badRequest)
        let page = try reply.webhookFormPage
        #expect(page.problems.map(\.field) == ["url"] && page.url.value == url)
        #expect(page.types.choices.filter(\.isChosen).map(\.value) == ["user.created"])
        #expect(try await test.store.webhooks().isEmpty)
    }

    @Test func `other users find no page of webhooks, and a change needs a recent sign-in`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var developer = try await Developer("dora", of: test)
        let page = try await Self.create(&administrator.browser).webhookPage
        let forms = ["/admin/webhooks/new", page.action, page.editPath, page.deletePath]
        for path in ["/admin/webhooks"] + forms {
            #expect(try await developer.browser.open(path).status == .notFound, "\(path)")
        }
        for ticket in ["", "forged", page.console.signOutTicket] {
            let form = Self.form(page, "pause").setting("ticket", to: ticket)
            #expect(try await administrator.browser.submit(form, to: page.action).status == .forbidden)
        }
        test.clock.advance(by: 3700)
        for path in forms {
            #expect(try await administrator.browser.send(.get, to: path).status == .seeOther, "\(path)")
        }
        #expect(try await test.store.webhooks().map(\.state) == [.active])
    }
}
