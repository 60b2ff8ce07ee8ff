import CounterfoilPages
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// The texts of the mails.
struct MailPageTests {
    private static let time = Date(timeIntervalSince1970: 1_800_000_000)

    private static func page(_ kind: MailKind, in language: Language, from site: Site) throws -> MailPage {
        MailPage(
            kind, link: "https://id.example.com/account/email?token=abc", about: time, in: Localizer(language),
            from: site, issuer: try Issuer("https://id.example.com"))
    }

    @Test(arguments: MailKind.allCases, Language.allCases)
    func `each mail names the service and its URL, as plain text and as HTML`(
        kind: MailKind, language: Language
    ) throws {
        let site = Site(name: "Fjord & Fjell")
        let page = try Self.page(kind, in: language, from: site)
        let html = String(
            decoding: try PageRenderer().render(page, in: Frame(site: site, language: language)), as: UTF8.self)
        for text in [page.subject, page.opening, page.closing, page.footer] {
            #expect(!text.contains("{") && !text.hasPrefix("mail."))
        }
        #expect(page.subject.contains("Fjord & Fjell"))
        #expect(page.plainText.contains("Fjord & Fjell") && page.plainText.contains("https://id.example.com"))
        #expect(html.contains("Fjord &amp; Fjell") && html.contains("<html lang=\"\(language.rawValue)\">"))
        #expect(!html.contains("{{") && !html.contains("[[") && !html.contains("<script"))
        let hasLink = [.verification, .recovery, .newAddress, .signUp, .accountExists, .invitation].contains(kind)
        #expect(page.plainText.contains("token=abc") == hasLink)
        #expect(html.contains("href=\"https://id.example.com/account/email?token=abc\"") == hasLink)
    }

    @Test func `a notice says from which device a change came, or that an operator made it`() throws {
        let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
        func page(_ origin: ChangeOrigin?) throws -> MailPage {
            MailPage(
                .passkeyAddition, link: nil, about: Self.time, by: origin, in: .english, from: Site(name: "Photos"),
                issuer: try Issuer("https://id.example.com"))
        }
        let ofBrowser = try page(ChangeOrigin(userAgent: agent, source: "192.0.2.7"))
        #expect(ofBrowser.origin == "The change came from: Firefox on Linux, 192.0.2.7.")
        #expect(ofBrowser.plainText.contains("192.0.2.7"))
        #expect(ofBrowser.closing.contains("https://id.example.com/account"))
        #expect(try page(nil).origin == "An administrator of this service made the change.")
        // The names of devices are those of a list, so a User-Agent adds no words to a mail.
        let hostile = try page(ChangeOrigin(userAgent: "Call 555-0100 now", source: "192.0.2.7"))
        #expect(!hostile.plainText.contains("555-0100"))
    }

    @Test func `a mail as plain text has its link on a line of its own`() throws {
        let page = try Self.page(.verification, in: .english, from: Site(name: "Example Photos"))
        #expect(page.subject == "Verify your email address for Example Photos")
        #expect(page.plainText.split(separator: "\n").contains("https://id.example.com/account/email?token=abc"))
        #expect(page.closing.contains("for 24 hours"))
    }
}
