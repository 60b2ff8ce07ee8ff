import Foundation
import MailTransport
import TestSupport
import Testing

/// Tests of the submission to a program with the options of `sendmail`.
@Suite(.timeLimit(.minutes(1)))
struct SendmailProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func program(_ lines: String, limit: Duration = .seconds(20)) throws -> SendmailProgram {
        let file = folder.file("sendmail")
        try Data("#!/bin/sh\n\(lines)\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
        return SendmailProgram(path: file.path, limit: limit)
    }

    private static func message(to recipient: String = "bob@example.org") throws -> MailMessage {
        let sender = try #require(MailAddress("id@example.com"))
        return MailMessage(
            id: try #require(MessageID("a1b2", at: sender)), sender: sender, senderName: HeaderText("Example"),
            recipient: try #require(MailAddress(recipient)), subject: HeaderText("Hello"), date: Date(),
            language: HeaderText("en"), plainText: "Text\n", html: "<p>Text</p>\n")
    }

    @Test func `the program gets the mail, and the recipient behind the options`() async throws {
        let program = try program(
            "printf '%s\\n' \"$@\" >'\(folder.path("arguments"))'; cat >'\(folder.path("mail"))'")
        let outcome = await program.submit(try Self.message(to: "-oQ$id`id`@example.org"))
        #expect(outcome == .accepted)
        let arguments = try String(contentsOf: folder.file("arguments"), encoding: .utf8)
        #expect(arguments == "-i\n-f\nid@example.com\n--\n-oQ$id`id`@example.org\n")
        let mail = try String(contentsOf: folder.file("mail"), encoding: .utf8)
        #expect(mail.hasPrefix("Date: ") && !mail.contains("\r") && mail.contains("\nSubject: Hello\n"))
    }

    // sysexits.h: EX_TEMPFAIL is 75, EX_UNAVAILABLE 69, EX_NOUSER 67.
    @Test(arguments: [75, 69, 1])
    func `a program that fails gets the mail again`(status: Int) async throws {
        let outcome = await (try program("exit \(status)")).submit(try Self.message())
        #expect(outcome == .failed(.programFailed(status: status)))
    }

    @Test func `a mailbox that the program does not know is refused`() async throws {
        guard case .refused = await (try program("exit 67")).submit(try Self.message()) else {
            Issue.record("the mail was not refused")
            return
        }
    }

    @Test func `a program that hangs or does not exist fails in time`() async throws {
        let hanging = try program("exec sleep 600", limit: .seconds(1))
        #expect(await hanging.submit(try Self.message()) == .failed(.timedOut))
        let missing = SendmailProgram(path: folder.path("nothing"))
        #expect(await missing.submit(try Self.message()) == .failed(.programMissing))
    }
}
