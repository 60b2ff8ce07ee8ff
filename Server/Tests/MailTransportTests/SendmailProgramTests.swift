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
        return SendmailProgram(path: file.path, limits: .init(whole: limit, stop: .zero))
    }

    private static func message(
        to recipient: String = "bob@example.org", plain: String = "Text\n"
    ) throws -> MailMessage {
        let sender = try #require(MailAddress("id@example.com"))
        return MailMessage(
            id: try #require(MessageID("a1b2", at: sender)), sender: sender, senderName: HeaderText("Example"),
            recipient: try #require(MailAddress(recipient)), subject: HeaderText("Hello"), date: Date(),
            language: HeaderText("en"), plainText: plain, html: "<p>Text</p>\n")
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

    @Test func `a program that has exited has ended, also if its children have not`() async throws {
        let began = ContinuousClock.now
        #expect(await (try program("sleep 50 & exit 0")).submit(try Self.message()) == .accepted)
        #expect(ContinuousClock.now - began < .seconds(20))
    }

    @Test func `a program that hangs is killed with its children`() async throws {
        let file = folder.path("pid")
        let hanging = try program("sleep 600 & echo $! >'\(file)'; wait", limit: .seconds(2))
        #expect(await hanging.submit(try Self.message()) == .failed(.timedOut))
        let text = try String(contentsOf: folder.file("pid"), encoding: .utf8)
        let child = try #require(Int32(text.filter(\.isNumber)))
        // Until the system has reaped it, it is a zombie.
        _ = try await Waiting.until("the end of the child") { () -> Bool? in
            guard let status = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8) else { return true }
            return status.contains(") Z ") ? true : nil
        }
    }

    @Test func `a program gets no blocked signal and a mail that is longer than a pipe`() async throws {
        let long = String(repeating: "0123456789abcdef\n", count: 20_000)
        let program = try program(
            "grep SigBlk /proc/self/status >'\(folder.path("signals"))'; cat | wc -c >'\(folder.path("count"))'")
        let message = try Self.message(plain: long)
        #expect(await program.submit(message) == .accepted)
        let signals = try String(contentsOf: folder.file("signals"), encoding: .utf8)
        #expect(signals.contains("0000000000000000"))
        let count = try String(contentsOf: folder.file("count"), encoding: .utf8)
        #expect(Int(count.filter(\.isNumber)) == message.bytes.filter { $0 != 0x0D }.count)
    }

    @Test func `a cancelled attempt ends a program that has not read the mail`() async throws {
        let program = try program("exec sleep 600")
        let message = try Self.message(plain: String(repeating: "0123456789abcdef\n", count: 20_000))
        let attempt = Task { await program.submit(message) }
        try await Task.sleep(for: .seconds(1))
        attempt.cancel()
        #expect(await attempt.value == .cancelled)
    }

    @Test func `a program that hangs or does not exist fails in time`() async throws {
        let hanging = try program("exec sleep 600", limit: .seconds(1))
        #expect(await hanging.submit(try Self.message()) == .failed(.timedOut))
        let missing = SendmailProgram(path: folder.path("nothing"))
        #expect(await missing.submit(try Self.message()) == .failed(.programMissing))
    }
}
