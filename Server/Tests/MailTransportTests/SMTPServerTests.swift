import MailTransport
import Testing

/// Tests of the URL of a mail server and of its credentials.
struct SMTPServerTests {
    // RFC 8314 §3.3, RFC 6409 §3.1
    @Test(arguments: [
        ("smtps://mail.example.com", SMTPServer(.implicitTLS, host: "mail.example.com", port: 465)),
        ("smtp://mail.example.com", SMTPServer(.startTLS, host: "mail.example.com", port: 587)),
        ("SMTP://mail.example.com:25/", SMTPServer(.startTLS, host: "mail.example.com", port: 25)),
        ("smtp://[::1]:2525", SMTPServer(.startTLS, host: "::1", port: 2525)),
        ("smtps://[2001:db8::1]", SMTPServer(.implicitTLS, host: "2001:db8::1", port: 465)),
    ])
    func `a URL has the encryption, the host and the port`(url: String, server: SMTPServer) {
        #expect(SMTPServer(url) == server)
    }

    @Test(arguments: [
        "", "mail.example.com", "http://mail.example.com", "smtp://", "smtp://:25", "smtp://mail:0",
        "smtp://mail:99999",
        "smtp://user:secret@mail", "smtp://mail/path", "smtp://mail?x=1", "smtp://mail\r\nx", "smtp://mail:25:26",
    ])
    func `a malformed URL is refused, and one with credentials, too`(url: String) { #expect(SMTPServer(url) == nil) }

    @Test(arguments: [
        ("smtp://localhost", true), ("smtp://127.0.0.1", true), ("smtp://127.1.2.3", true), ("smtp://[::1]", true),
        ("smtp://mail.example.com", false), ("smtp://127.evil.example", false), ("smtp://10.0.0.1", false),
    ])
    func `only this machine is loopback`(url: String, isLoopback: Bool) {
        #expect(SMTPServer(url)?.isLoopback == isLoopback)
    }

    @Test func `credentials are two lines and are never printed`() throws {
        let credentials = try #require(SMTPCredentials(file: "mailer\r\nsecret word\n"))
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] { #expect(!text.contains("secret")) }
        for text in ["", "mailer", "mailer\n\n", "\nsecret", "a\nb\nc"] { #expect(SMTPCredentials(file: text) == nil) }
    }
}
