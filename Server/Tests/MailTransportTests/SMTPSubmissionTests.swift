import Foundation
import MailTesting
import MailTransport
import TestSupport
import Testing

/// Tests of the submission to a mail server of another project (aiosmtpd).
@Suite(.enabled(if: MailReceiver.isInstalled, "python3-aiosmtpd is not installed"), .timeLimit(.minutes(3)))
struct SMTPSubmissionTests {
    private let folder: TemporaryDirectory
    private let authority: TestAuthority

    init() throws {
        folder = try TemporaryDirectory()
        authority = try TestAuthority()
        try Data(try authority.pem.utf8).write(to: folder.file("authority.pem"))
    }

    private static func message(subject: String = "Grüße") throws -> MailMessage {
        let sender = try #require(MailAddress("id@example.com"))
        return MailMessage(
            id: try #require(MessageID("a1b2", at: sender)), sender: sender,
            senderName: HeaderText("Fjord \"&\" Fjell"),
            recipient: try #require(MailAddress("bob@example.org")), subject: HeaderText(subject), date: Date(),
            language: HeaderText("de"), plainText: ".\nTschüß\n.dot\n", html: "<p lang=\"de\">Tschüß</p>\n")
    }

    private func submission(
        to receiver: MailReceiver, _ security: SMTPServer.Security = .startTLS, host: String = "localhost",
        login: String? = nil, trusting: Bool = true, session: Duration = .seconds(20), reply: Duration = .seconds(20),
        stop: Duration = .seconds(5)
    ) -> SMTPSubmission {
        SMTPSubmission(
            SMTPServer(security, host: host, port: receiver.port),
            credentials: login.flatMap { SMTPCredentials(file: $0.replacing(":", with: "\n")) },
            limits: .init(connect: session, session: session, reply: reply, stop: stop),
            authorityFile: trusting ? folder.path("authority.pem") : nil)
    }

    private func certificate(for host: String = "localhost") throws -> TestAuthority.Issued {
        try authority.issue(for: [host])
    }

    // RFC 3207, RFC 8314 §3.3, RFC 4954
    @Test(arguments: [SMTPServer.Security.startTLS, .implicitTLS])
    func `a mail server gets a mail over TLS, after a login`(security: SMTPServer.Security) async throws {
        let issued = try certificate()
        let receiver = try await MailReceiver(
            encryption: security == .startTLS ? .startTLS(issued) : .implicitTLS(issued), login: "mailer:secret word")
        let outcome = await submission(to: receiver, security, login: "mailer:secret word").submit(try Self.message())
        #expect(outcome == .accepted)
        let mail = try #require(try await receiver.mails(atLeast: 1).first)
        #expect(mail.isEncrypted && mail.login == "mailer")
        #expect(mail.envelopeSender == "id@example.com" && mail.envelopeRecipients == ["bob@example.org"])
        #expect(mail.from == "\"Fjord \\\"&\\\" Fjell\" <id@example.com>" && mail.to == "bob@example.org")
        #expect(mail.subject == "Grüße" && mail.language == "de" && mail.isAutomatic)
        #expect(mail.plain.replacing("\r\n", with: "\n") == ".\nTschüß\n.dot\n")
        #expect(mail.html.contains("<p lang=\"de\">Tschüß</p>"))
        #expect(mail.messageID == "<a1b2@example.com>" && mail.defects.isEmpty)
    }

    @Test func `a mail server without STARTTLS gets no mail`() async throws {
        let receiver = try await MailReceiver()
        #expect(await submission(to: receiver).submit(try Self.message()) == .failed(.noEncryption))
        #expect(receiver.mails.isEmpty)
        let plain = await submission(to: receiver, .insecureWithoutTLS).submit(try Self.message())
        #expect(plain == .accepted)
    }

    @Test func `a mail server without a valid certificate gets no mail and no password`() async throws {
        let other = try await MailReceiver(encryption: .startTLS(try certificate(for: "other.example")), login: "a:b")
        let wrongName = await submission(to: other, login: "a:b").submit(try Self.message())
        #expect(wrongName == .failed(.certificateRefused))
        let unknown = try await MailReceiver(encryption: .implicitTLS(try certificate()), login: "a:b")
        let untrusted = submission(to: unknown, .implicitTLS, login: "a:b", trusting: false)
        #expect(await untrusted.submit(try Self.message()) == .failed(.certificateRefused))
        #expect(other.mails.isEmpty && unknown.mails.isEmpty)
    }

    @Test func `implicit TLS with a server that speaks none fails`() async throws {
        let receiver = try await MailReceiver()
        let outcome = await submission(to: receiver, .implicitTLS).submit(try Self.message())
        #expect(outcome == .failed(.encryptionFailed))
    }

    @Test func `wrong credentials are a failure of the settings, not of the mail`() async throws {
        let receiver = try await MailReceiver(encryption: .startTLS(try certificate()), login: "mailer:secret")
        let outcome = await submission(to: receiver, login: "mailer:wrong").submit(try Self.message())
        #expect(outcome == .failed(.loginRefused))
        #expect(await submission(to: receiver).submit(try Self.message()) == .failed(.loginRefused))
    }

    // RFC 5321 §4.2.1
    @Test func `a reply of 5xx refuses the mail, and one of 4xx postpones it`() async throws {
        let refusing = try await MailReceiver(.refuse)
        let refused = await submission(to: refusing, .insecureWithoutTLS).submit(try Self.message())
        guard case .refused(let reply) = refused else {
            Issue.record("expected a refusal, got \(refused)")
            return
        }
        #expect("\(reply)" == "550 5.1.1" && reply.text.contains("no such mailbox"))
        let postponing = try await MailReceiver(.postpone)
        let postponed = await submission(to: postponing, .insecureWithoutTLS).submit(try Self.message())
        guard case .failed(.postponed(let later)) = postponed else {
            Issue.record("expected a postponement, got \(postponed)")
            return
        }
        #expect("\(later)" == "451 4.7.1")
    }

    @Test func `a mail server that cuts off, is slow or is gone fails in time`() async throws {
        let cutting = try await MailReceiver(.cut)
        #expect(await submission(to: cutting, .insecureWithoutTLS).submit(try Self.message()) == .failed(.cutOff))
        let slow = try await MailReceiver(.slow)
        let began = ContinuousClock.now
        let late = submission(to: slow, .insecureWithoutTLS, reply: .seconds(2))
        #expect(await late.submit(try Self.message()) == .failed(.timedOut))
        #expect(ContinuousClock.now - began < .seconds(30))
        let gone = SMTPServer(.insecureWithoutTLS, host: "127.0.0.1", port: try ReservedPort().number)
        let nowhere = await SMTPSubmission(gone, credentials: nil).submit(try Self.message())
        #expect(nowhere == .failed(.notReached))
    }

    // RFC 5321 §4.2.1
    @Test func `only a reply to the recipient or to the message refuses the mail`() async throws {
        let ofMessage = try await MailReceiver(.refuseMessage)
        let refused = await submission(to: ofMessage, .insecureWithoutTLS).submit(try Self.message())
        guard case .refused(let reply) = refused else {
            Issue.record("expected a refusal, got \(refused)")
            return
        }
        #expect("\(reply)" == "554 5.6.0")
        let ofSender = try await MailReceiver(.refuseSender)
        let failed = await submission(to: ofSender, .insecureWithoutTLS).submit(try Self.message())
        guard case .failed(.sessionRefused(let cause)) = failed else {
            Issue.record("expected a failure, got \(failed)")
            return
        }
        #expect("\(cause)" == "550 5.7.1" && "\(failed)".contains("check the sender address"))
    }

    // RFC 5321 §4.5.3.2.6
    @Test func `the reply to the mail has a limit of its own`() async throws {
        let late = try await MailReceiver(.late)
        let patient = submission(to: late, .insecureWithoutTLS, session: .seconds(3), reply: .seconds(60))
        #expect(await patient.submit(try Self.message()) == .accepted)
        #expect(try await late.mails(atLeast: 1).count == 1)
    }

    @Test func `a cancelled attempt that has handed over the mail waits a little for the reply`() async throws {
        func cancelled(_ receiver: MailReceiver, stop: Duration) async throws -> SubmissionOutcome {
            let (submission, message) = (
                submission(to: receiver, .insecureWithoutTLS, reply: .seconds(120), stop: stop), try Self.message()
            )
            let attempt = Task { await submission.submit(message) }
            try await Task.sleep(for: .seconds(2))
            attempt.cancel()
            return await attempt.value
        }
        #expect(try await cancelled(try await MailReceiver(.late), stop: .seconds(30)) == .accepted)
        #expect(try await cancelled(try await MailReceiver(.slow), stop: .zero) == .failed(.timedOut))
    }

    @Test func `without libcurl, an attempt fails and names the package`() async throws {
        let submission = SMTPSubmission(
            SMTPServer(.startTLS, host: "localhost", port: 587), credentials: nil,
            libraryNames: ["libnothing.so.0", "libc.so.6"])
        let outcome = await submission.submit(try Self.message())
        #expect(outcome == .failed(.libraryMissing))
        #expect("\(SubmissionFailure.libraryMissing)".contains("libcurl4"))
    }

    @Test func `many mails at once arrive once each`() async throws {
        let receiver = try await MailReceiver()
        let submission = submission(to: receiver, .insecureWithoutTLS)
        try await withThrowingTaskGroup(of: SubmissionOutcome.self) { group in
            for index in 0..<20 {
                let message = try Self.message(subject: "\(index)")
                group.addTask { await submission.submit(message) }
            }
            for try await outcome in group { #expect(outcome == .accepted) }
        }
        #expect(Set(try await receiver.mails(atLeast: 20).map(\.subject)) == Set((0..<20).map(String.init)))
    }
}
