import Foundation
import MailTransport
import Testing

/// Tests of the bytes of a mail.
struct MailMessageTests {
    private static func message(
        subject: String = "Hello", name: String = "Example", plain: String = "Text\n"
    ) throws -> MailMessage {
        let sender = try #require(MailAddress("id@example.com"))
        return MailMessage(
            id: try #require(MessageID("a1b2", at: sender)), sender: sender, senderName: HeaderText(name),
            recipient: try #require(MailAddress("bob@example.org")), subject: HeaderText(subject),
            date: Date(timeIntervalSince1970: 1_700_000_000), language: HeaderText("en"), plainText: plain,
            html: "<p>Text</p>\n")
    }

    private static func lines(_ message: MailMessage) -> [String] {
        String(decoding: message.bytes, as: UTF8.self).components(separatedBy: "\r\n")
    }

    // RFC 5322 §3.6, RFC 2046 §5.1.4, RFC 3834 §5
    @Test func `a mail has the fields and parts of its standards`() throws {
        #expect(
            Self.lines(try Self.message()) == [
                "Date: Tue, 14 Nov 2023 22:13:20 +0000",
                "From: \"Example\"", " <id@example.com>",
                "To: <bob@example.org>",
                "Subject: Hello",
                "Message-ID: <a1b2@example.com>",
                "MIME-Version: 1.0",
                "Auto-Submitted: auto-generated",
                "Content-Language: en",
                "Content-Type: multipart/alternative;", " boundary=\"=_a1b2\"",
                "",
                "--=_a1b2", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable",
                "", "Text", "",
                "--=_a1b2", "Content-Type: text/html; charset=utf-8", "Content-Transfer-Encoding: quoted-printable",
                "", "<p>Text</p>", "",
                "--=_a1b2--", "",
            ])
    }

    @Test(arguments: [
        "Alice\r\nBcc: eve@example.net", "Alice\nBcc: eve@example.net", "Alice\rBcc: eve@example.net",
        "Alice\u{2028}Bcc: eve@example.net", "Alice\u{85}Bcc: eve@example.net", "Alice\u{0}Bcc: eve@example.net",
        "Alice\r\n\r\n<p>text</p>", "\" <eve@example.net>, \"",
    ])
    func `a name cannot add a header field, a body or a recipient`(name: String) throws {
        let lines = Self.lines(try Self.message(subject: name, name: name))
        let fields = lines.prefix { !$0.isEmpty }
        #expect(fields.filter { !$0.hasPrefix(" ") }.count == 9)
        #expect(!fields.contains { $0.hasPrefix("Bcc") })
        let from = fields.drop { !$0.hasPrefix("From:") }.prefix(2)
        #expect(from.last == " <id@example.com>")
        let quotes = from.first?.replacing("\\\"", with: "").filter { $0 == "\"" }.count
        #expect(quotes == 2 || quotes == 0)
    }

    // RFC 2047 §2, §5
    @Test func `a text that is not short ASCII becomes encoded words of whole characters`() throws {
        let subject = String(repeating: "Prüfe 👩‍💻 ", count: 20)
        let words = HeaderText(subject).unstructured.components(separatedBy: "\r\n ")
        #expect(words.count > 1)
        var decoded = ""
        for word in words {
            #expect(word.utf8.count <= 75)
            #expect(word.hasPrefix("=?UTF-8?B?") && word.hasSuffix("?="))
            let bytes = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
            decoded += try #require(String(data: bytes, encoding: .utf8))
        }
        #expect(decoded == subject)
    }

    @Test func `a text that looks like an encoded word is encoded`() {
        #expect(HeaderText("=?UTF-8?B?QQ==?=").unstructured == "=?UTF-8?B?PT9VVEYtOD9CP1FRPT0/PQ==?=")
    }

    // RFC 2045 §6.7, RFC 5321 §4.5.2
    @Test func `each line of a body is short ASCII and never a dot alone`() throws {
        let plain = ".\n.dot\nends with a space \n\(String(repeating: "ä=", count: 200))\r\nlast"
        let lines = Self.lines(try Self.message(plain: plain))
        #expect(lines.allSatisfy { $0.utf8.count <= 76 && $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } })
        #expect(!lines.contains { $0.hasPrefix(".") || $0.hasSuffix(" ") })
        // A dot that begins a line after a soft line break.
        let broken = Self.lines(try Self.message(plain: String(repeating: "x", count: 75) + "."))
        #expect(broken.contains(String(repeating: "x", count: 75) + "=") && broken.contains("=2E"))
        #expect(lines.contains("=2Edot") && lines.contains("ends with a space=20"))
    }

    @Test(arguments: [
        "", "a", "@b", "a@", "a b@c", "a@b@c", "a@b>", "<a@b", "a@b\r\nRCPT TO:<c@d>", "ä@b", "a,b@c", "\"a\"@b",
        "a@[1]",
    ])
    func `a malformed address is refused`(text: String) { #expect(MailAddress(text) == nil) }

    @Test func `a message identifier has letters and digits only`() throws {
        let sender = try #require(MailAddress("id@example.com"))
        #expect(MessageID("", at: sender) == nil)
        #expect(MessageID("a>\r\nBcc: b", at: sender) == nil)
        #expect(MessageID("aZ9", at: sender)?.rawValue == "<aZ9@example.com>")
    }
}
