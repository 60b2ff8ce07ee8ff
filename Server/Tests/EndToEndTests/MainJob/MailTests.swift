import Foundation
import MailTesting
import TestSupport
import Testing

/// Mails of the released program at a mail server of another project (aiosmtpd).
@Suite(.enabled(if: MailReceiver.isInstalled, "python3-aiosmtpd is not installed"), .timeLimit(.minutes(10)))
struct MailTests {
    private static func options(_ port: Int) -> [String] {
        ["--mail-server", "smtp://127.0.0.1:\(port)", "--mail-tls", "never", "--mail-sender", "id@example.com"]
    }

    /// Signs in as alice, and asks for a link.
    private static func ask(_ site: Site, in browser: inout UserAgent) async throws {
        let page = try await Account.alice.signIn("\(site.issuer)/account/email", in: &browser)
        let sent = try await browser.submit(try page.form(withButton: "send"), ["decision": "send"])
        #expect(sent.text.contains("The email with the link is on its way."))
    }

    private static func verify(_ link: String, in browser: inout UserAgent) async throws {
        let page = try await browser.open(link)
        let verified = try await browser.submit(try page.form(withButton: "verify"), ["decision": "verify"])
        #expect(verified.text.contains("Your email address is verified."))
    }

    @Test func `a user verifies an address by the link in a mail`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let receiver = try await MailReceiver()
            let server = try await site.start(options: Self.options(receiver.port))
            try await server.whileRunning {
                var browser = UserAgent()
                try await Self.ask(site, in: &browser)
                let mail = try #require(try await receiver.mails(atLeast: 1).first)
                #expect(mail.envelopeRecipients == [Account.alice.email])
                try await Self.verify(try #require(mail.link), in: &browser)
                let shown = try await site.administer(["user", "show", "alice"])
                #expect(shown.output.contains(/email verified:? +yes/), "\(shown.output)")
            }
        }
    }

    @Test func `a server that is killed while the mail server is away sends the mail once after its start`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            let port = try ReservedPort()
            var browser = UserAgent()
            let killed = try await site.start(options: Self.options(port.number))
            try await Self.ask(site, in: &browser)
            _ = try await killed.said("that the mail server is away") { program in
                program.errors.contains("failed to send a mail, will retry") ? true : nil
            }
            try killed.signal("KILL")
            _ = try await killed.ended()
            let receiver = try await MailReceiver(port: port.number)
            let server = try await site.start(options: Self.options(port.number))
            try await server.whileRunning {
                let mails = try await Waiting.until("the mail", within: .seconds(180)) {
                    receiver.mails.isEmpty ? nil : receiver.mails
                }
                #expect(mails.count == 1)
                try await Self.verify(try #require(mails.first?.link), in: &browser)
                #expect(receiver.mails.count == 1)
            }
        }
    }

    @Test func `commands notify the verified address of a user of what they change`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let receiver = try await MailReceiver()
            let server = try await site.start(options: Self.options(receiver.port))
            try await server.whileRunning {
                func change(_ arguments: [String], input: String? = nil) async throws {
                    let changed = try await site.administer(["user"] + arguments, input: input)
                    #expect(changed.status == 0, "\(changed.errors)")
                }
                try await change(["edit", "alice", "--email-verified", "true"])
                try await change(["password", "alice", "--password-stdin"], input: "nine quiet herons by the lake\n")
                try await change(["edit", "alice", "--email", "other@example.com"])
                // The address is not verified any more.
                try await change(["password", "alice", "--password-stdin"], input: "eight quiet herons by the lake\n")
                let mails = try await receiver.mails(atLeast: 2)
                #expect(mails.map(\.envelopeRecipients) == [[Account.alice.email], [Account.alice.email]])
                #expect(mails.allSatisfy { !$0.plain.contains("token=") })
            }
        }
    }

    @Test func `mail test sends at once, and says what is wrong`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            func test(_ options: [String]) async throws -> EndedProgram {
                let settings = ["--issuer", "https://id.example.com", "--listen", "127.0.0.1:1", "--data-dir", "data"]
                return try await RunningProgram(
                    .server, ["mail", "test", "bob@example.org"] + settings + options, in: folder
                ).ended()
            }
            let receiver = try await MailReceiver()
            let sent = try await test(Self.options(receiver.port))
            #expect(sent.status == 0 && sent.output.hasPrefix("The mail to bob@example.org was accepted."))
            let mail = try #require(try await receiver.mails(atLeast: 1).first)
            #expect(mail.subject == "Test email from id.example.com" && mail.to == "bob@example.org")
            let refusing = try await MailReceiver(.refuse)
            let refused = try await test(Self.options(refusing.port))
            #expect(refused.status == 3 && refused.errors.contains("550 5.1.1"), "\(refused.errors)")
            let away = try await test(Self.options(try ReservedPort().number))
            #expect(away.status == 6 && away.errors.contains("accepts no connection"), "\(away.errors)")
            let missing = try await test([])
            #expect(missing.status == 3 && missing.errors.contains("email is not set up"), "\(missing.errors)")
        }
    }
}
