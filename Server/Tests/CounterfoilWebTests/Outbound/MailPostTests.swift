import CounterfoilConsole
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilWeb
import Foundation
import HTTPTypes
import MailTesting
import MailTransport
import Testing

/// Mails of a server at a mail server of another project (aiosmtpd).
@Suite(.enabled(if: MailReceiver.isInstalled, "python3-aiosmtpd is not installed"), .timeLimit(.minutes(3)))
struct MailPostTests {
    private static func post(to receiver: MailReceiver) throws -> MailPost {
        let server = SMTPServer(.insecureWithoutTLS, host: "127.0.0.1", port: receiver.port)
        return MailPost(
            from: try #require(MailAddress("id@example.com")), by: SMTPSubmission(server, credentials: nil))
    }

    private static func ask(
        _ test: TestServer, as name: String = "alice", source: String = "192.0.2.1", language: String = "en"
    ) async throws {
        var browser = test.browser(source: source)
        browser.fields[.acceptLanguage] = language
        try await browser.signInToConsole(username: name)
        let page = try await browser.open("/account/email").emailPage
        let reply = try await browser.send(.post, to: page.action, form: page.form("send"))
        #expect(reply.status == .seeOther)
    }

    @Test func `a mail server receives what the page promises`() async throws {
        let receiver = try await MailReceiver()
        let test = try await TestServer(mailSender: try Self.post(to: receiver))
        try await Self.ask(test, language: "de")
        #expect(await (try #require(test.server.mailDelivery)).deliverDue() == 1)
        let mail = try #require(try await receiver.mails(atLeast: 1).first)
        #expect(mail.envelopeSender == "id@example.com" && mail.envelopeRecipients == ["alice@example.com"])
        #expect(mail.from.contains("Example Photos") && mail.from.hasSuffix("<id@example.com>"))
        #expect(mail.subject == "Bestätigen Sie Ihre E-Mail-Adresse für Example Photos" && mail.language == "de")
        #expect(mail.isAutomatic && mail.defects.isEmpty)
        let link = try #require(mail.link)
        #expect(link.hasPrefix("https://id.example.com/account/email?token="))
        #expect(mail.html.contains("href=\"\(link)\""))
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open(link).emailPage
        #expect(try await browser.submit(page.form("verify"), to: page.action).emailPage.isVerified)
    }

    @Test func `two servers on one store send each mail once to a mail server that is busy at first`() async throws {
        let (receiver, store, clock) = (try await MailReceiver(.greylist), TestStore(), FixedClock())
        let first = try await TestServer(store: store, clock: clock, mailSender: try Self.post(to: receiver))
        let second = try await TestServer(store: store, clock: clock, mailSender: try Self.post(to: receiver))
        for number in 1...10 {
            _ = try await first.addUser("user-\(number)", email: "user-\(number)@example.com")
            try await Self.ask(first, as: "user-\(number)", source: "198.51.100.\(number)")
        }
        for _ in 1...2 {
            await withTaskGroup(of: Void.self) { group in
                for delivery in [first, second].compactMap(\.server.mailDelivery) {
                    group.addTask { while await delivery.deliverDue() > 0 {} }
                }
            }
            clock.advance(by: 30)
        }
        let mails = try await receiver.mails(atLeast: 10)
        #expect(mails.count == 10 && Set(mails.map(\.messageID)).count == 10)
        #expect(Set(mails.flatMap(\.envelopeRecipients)).count == 10)
        #expect(try await store.mailBacklog().count == 0)
        let failures = [first, second].map { $0.server.metrics.snapshot.events[.mailFailed] ?? 0 }
        #expect(failures.reduce(0, +) == 1)
    }

    // Otherwise a slow attempt and that of another server could both succeed.
    @Test func `an attempt to send a mail ends before another server may take it`() {
        let (smtp, sendmail) = (SMTPSubmission.Limits(), SendmailProgram.Limits())
        let lease = Duration.seconds(MailDelivery.lease)
        #expect(smtp.session + smtp.reply + smtp.stop < lease)
        #expect(sendmail.whole + sendmail.stop < lease)
    }

    @Test func `a mail that the mail server refuses is given up, and its log line has no address`() async throws {
        let receiver = try await MailReceiver(.refuse)
        let test = try await TestServer(mailSender: try Self.post(to: receiver))
        try await Self.ask(test)
        #expect(await (try #require(test.server.mailDelivery)).deliverDue() == 1)
        #expect(try await test.store.mailBacklog().count == 0)
        let line = try #require(test.log.lines.first { $0.contains("failed to send a mail, giving up") })
        #expect(line.contains("550 5.1.1") && !line.contains("alice@example.com"))
    }
}
