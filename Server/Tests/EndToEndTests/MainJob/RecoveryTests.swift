import Foundation
import MailTesting
import TestSupport
import Testing

/// The ways back into an account of the released program.
@Suite(.timeLimit(.minutes(10)))
struct RecoveryTests {
    private static let newPassword = "a new one that nobody else has"

    /// Sets a new password on the page of a link, and expects the account.
    private static func setPassword(at link: String, in browser: inout UserAgent) async throws {
        let page = try await browser.open(link)
        let account = try await browser.submit(try page.form(with: "token"), ["password": newPassword])
        #expect(account.text.contains(Account.alice.fullName), "\(account.text)")
    }

    private static func isSignedIn(_ site: Site, in browser: inout UserAgent) async throws -> Bool {
        try await !browser.open("\(site.issuer)/account").body.contains("name=\"password\"")
    }

    @Test(.enabled(if: MailReceiver.isInstalled, "python3-aiosmtpd is not installed"))
    func `a user who has only the mailbox is back within two pages, and every other session has ended`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let receiver = try await MailReceiver()
            let options = [
                "--mail-server", "smtp://127.0.0.1:\(receiver.port)", "--mail-tls", "never", "--mail-sender",
                "id@example.com",
            ]
            let server = try await site.start(options: options)
            try await server.whileRunning {
                var elsewhere = UserAgent()
                _ = try await Account.alice.signIn("\(site.issuer)/account", in: &elsewhere)
                #expect(try await Self.isSignedIn(site, in: &elsewhere))
                var browser = UserAgent()
                let signIn = try await browser.open("\(site.issuer)/account")
                let asking = try await browser.submit(try signIn.form(with: "destination"), [:])
                let sent = try await browser.submit(
                    try asking.form(withButton: "mail"), ["decision": "mail", "name": Account.alice.email])
                #expect(sent.text.contains("a link is on its way"))
                let mail = try #require(try await receiver.mails(atLeast: 1).first)
                #expect(mail.envelopeRecipients == [Account.alice.email])
                let link = try #require(mail.link)
                // The program that opens links first is another browser.
                var scanner = UserAgent()
                #expect(try await scanner.open(link).status == 403)
                try await Self.setPassword(at: link, in: &browser)
                #expect(try await !Self.isSignedIn(site, in: &elsewhere))
                #expect(try await browser.open(link).status == 404)
            }
        }
    }

    @Test func `a user without mail is back by the link of an operator, and every other session has ended`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            let server = try await site.start(options: ["--second-factor", "off"])
            try await server.whileRunning {
                var elsewhere = UserAgent()
                let account = try await Account.alice.signIn("\(site.issuer)/account", in: &elsewhere)
                #expect(account.status == 200)
                var browser = UserAgent()
                #expect(try await !browser.open("\(site.issuer)/account").body.contains("/recover"))
                let printed = try await site.administer(["user", "link", Account.alice.name])
                let link = try #require(printed.output.split(separator: "\n").first.map(String.init))
                #expect(printed.status == 0 && link.hasPrefix("\(site.issuer)/recover?token="))
                #expect(printed.errors.contains("It works once, until"))
                try await Self.setPassword(at: link, in: &browser)
                #expect(try await !Self.isSignedIn(site, in: &elsewhere))
                #expect(try await browser.open(link).status == 404)
                let log = try await site.administer(["audit", "list", "--kind", "password-change"])
                #expect(log.output.contains("by a link of an operator"))
            }
        }
    }
}
