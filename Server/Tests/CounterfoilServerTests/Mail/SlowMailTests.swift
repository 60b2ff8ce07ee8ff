import CounterfoilConsole
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import TestSupport
import Testing

/// A mail server that does not answer the first mail, until the attempt is cancelled.
private struct SlowMailSender: MailSender {
    let recorder = MailRecorder()

    func send(_ mail: OutgoingMail) async -> MailOutcome {
        let outcome = await recorder.send(mail)
        guard mail.recipient.rawValue == "user-1@example.com" else { return outcome }
        try? await Task.sleep(for: .seconds(3600))
        return .cancelled
    }
}

/// The delivery of mails while the mail server is slow.
@Suite(.timeLimit(.minutes(1)))
struct SlowMailTests {
    private static func ask(_ test: TestServer, _ number: Int) async throws {
        _ = try await test.addUser("user-\(number)", email: "user-\(number)@example.com")
        var browser = test.browser(source: "198.51.100.\(number)")
        try await browser.signInToConsole(username: "user-\(number)")
        let page = try await browser.open("/account/email").emailPage
        #expect(try await browser.send(.post, to: page.action, form: page.form("send")).status == .seeOther)
    }

    @Test func `a mail that the mail server does not answer delays no other mail and no stop`() async throws {
        let sender = SlowMailSender()
        let test = try await TestServer(mailSender: sender)
        let delivery = try #require(test.server.mailDelivery)
        try await Self.ask(test, 1)
        let service = Task { await delivery.run() }
        _ = try await Waiting.until("the first mail") { sender.recorder.mails.isEmpty ? nil : true }
        for number in 2...9 { try await Self.ask(test, number) }
        _ = try await Waiting.until("the other mails") { try await test.store.mailBacklog().count == 1 ? true : nil }
        #expect(sender.recorder.mails.count == 9)
        service.cancel()
        await service.value
        // It is sent again.
        test.clock.advance(by: 2)
        #expect(try await test.store.takeMails(dueAt: test.clock.now, until: test.clock.now, limit: 9).count == 1)
    }
}
