import Foundation
import MailTesting
import TestSupport
import Testing

/// Accounts that persons create at the released program, with a mail server of another project (aiosmtpd).
@Suite(.enabled(if: MailReceiver.isInstalled, "python3-aiosmtpd is not installed"), .timeLimit(.minutes(10)))
struct SignUpTests {
    private static let password = "a lamp, a river and a kite"

    private static func options(_ port: Int, _ more: [String] = []) -> [String] {
        ["--mail-server", "smtp://127.0.0.1:\(port)", "--mail-tls", "never", "--mail-sender", "id@example.com"] + more
    }

    private static func create(_ name: String, at link: String, in browser: inout UserAgent) async throws -> WebPage {
        let page = try await browser.open(link)
        return try await browser.submit(
            try page.form(with: "password"),
            ["username": name, "display_name": "Bob Builder", "password": password, "terms": "1"])
    }

    @Test func `a person creates an account by the link in a mail, and another address gets a notice`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let receiver = try await MailReceiver()
            let server = try await site.start(options: Self.options(receiver.port, ["--sign-up", "open"]))
            try await server.whileRunning {
                var browser = UserAgent()
                for email in ["bob@example.com", Account.alice.email] {
                    let page = try await browser.open("\(site.issuer)/sign-up")
                    let sent = try await browser.submit(
                        try page.form(with: "email"), ["email": email, "decision": "send"])
                    #expect(sent.status == 200 && sent.text.contains(email), "\(sent.text)")
                }
                let mails = try await receiver.mails(atLeast: 2)
                let mail = try #require(mails.first { $0.envelopeRecipients == ["bob@example.com"] })
                let notice = try #require(mails.first { $0.envelopeRecipients == [Account.alice.email] })
                #expect(notice.link == "\(site.issuer)/sign-in" && notice.defects.isEmpty)
                #expect(mail.subject.hasPrefix("Create your account at ") && mail.defects.isEmpty)
                let link = try #require(mail.link)
                var stranger = UserAgent()
                #expect(try await stranger.open(link).status == 403)
                let account = try await Self.create("bob", at: link, in: &browser)
                #expect(account.status == 200 && account.text.contains("Bob Builder"), "\(account.text)")
                #expect(try await browser.open(link).status == 404)
                let shown = try await site.administer(["user", "show", "bob"])
                #expect(shown.output.contains(/email verified:? +yes/), "\(shown.output)")
            }
        }
    }

    @Test func `an invited person creates an account with the role of the invitation, and accepts the terms`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            let receiver = try await MailReceiver()
            let terms = ["--terms-uri", "https://www.example.com/terms", "--terms-version", "1"]
            let server = try await site.start(
                options: Self.options(receiver.port, ["--sign-up", "invited"] + terms))
            try await server.whileRunning {
                let invited = try await site.administer(
                    ["user", "invite", "--email", "bob@example.com", "--role", "owner"])
                #expect(invited.status == 0 && !invited.output.contains("/sign-up"))
                #expect(invited.errors.contains("The link is sent to bob@example.com and not shown here"))
                let mail = try #require(try await receiver.mails(atLeast: 1).first)
                let link = try #require(mail.link)
                #expect(mail.envelopeRecipients == ["bob@example.com"])
                var browser = UserAgent()
                #expect(try await browser.open("\(site.issuer)/sign-up").status == 404)
                let account = try await Self.create("bob", at: link, in: &browser)
                #expect(account.status == 200, "\(account.text)")
                #expect(try await browser.open("\(site.issuer)/admin").status == 200)
                let shown = try await site.administer(["user", "show", "bob"])
                #expect(shown.output.contains(", owner") && shown.output.contains("accepted terms: 1, 20"))
                #expect(shown.output.contains(/email verified:? +yes/), "\(shown.output)")

                // A user from before the terms is asked first.
                var other = UserAgent()
                let asked = try await Account.alice.signIn("\(site.issuer)/account", in: &other)
                let accepted = try await other.submit(
                    try asked.form(withButton: "accept"), ["decision": "accept"])
                #expect(accepted.text.contains(Account.alice.fullName), "\(accepted.text)")
            }
        }
    }
}
