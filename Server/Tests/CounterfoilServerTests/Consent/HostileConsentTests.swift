import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// Registered texts of a malicious client never execute, load or mislead on a page.
struct HostileConsentTests {
    private static let address = "https://app.example/cb"

    private static func html(
        name: String = "Darkroom", publisher: String? = nil, text: String? = nil, privacy: String? = nil
    ) async throws -> String {
        let test = try await TestServer()
        let client = try await test.register(
            name, redirectURIs: [address], publisher: publisher, consentText: text, privacyURI: privacy)
        return try await Attempt(test, by: client, at: address).afterSignIn().reply.html()
    }

    /// The number of each element of a page.
    private static func elements(_ html: String) -> [String: Int] {
        html.matches(of: /<([A-Za-z!][A-Za-z0-9]*)/).reduce(into: [:]) {
            $0[String($1.1).lowercased(), default: 0] += 1
        }
    }

    // A name or a publisher is plain text, whatever it contains, and never reverses the text
    // direction.
    @Test(arguments: [
        "<img src=x onerror=alert(1)>", "</title><script>alert(1)</script>", "\"><svg onload=alert(1)>",
        "' autofocus='",
        "{{page.ticket}}", "[[sign-in.title]]", "{{{page.request}}}", "<!--", "\u{202E}elgooG\u{2066}", "\"\u{301}><b>",
        "Example Photos", "📷", String(repeating: "A", count: 10_000), "javascript:alert(1)", "&lt;b&gt;",
    ])
    func `a malicious name is shown as text`(name: String) async throws {
        let plain = Self.elements(try await Self.html(publisher: "Somebody"))
        let html = try await Self.html(name: name, publisher: name)
        #expect(Self.elements(html) == plain)
        for scalar in "\u{202A}\u{202B}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}\u{200B}".unicodeScalars {
            #expect(!html.unicodeScalars.contains(scalar))
        }
        // The host of the redirect URI is shown, whatever name the client has.
        #expect(html.contains("<b><bdi>app.example</bdi></b>"))
        #expect(!html.contains(try await Self.ticketOutsideOfFields(html)))
    }

    private static func ticketOutsideOfFields(_ html: String) async throws -> String {
        let ticket = try #require(html.firstMatch(of: /name="ticket" value="([^"]+)"/)).1
        return ">" + ticket
    }

    // Raw HTML, images and dangerous links of the text are not on the page, and the text stays in its frame.
    @Test(arguments: [
        "<script>alert(1)</script>\n\nhello", "hello <img src=x onerror=alert(1)>", "hello <svg onload=alert(1)>",
        "hello\n\n<iframe src=https://evil.example></iframe>", "hello <!-- comment --> there",
        "hello</div></section><form>",
        "![hello](https://evil.example/pixel.png) hello", "[hello](javascript:alert(1))",
        "[hello](data:text/html,<script>)", "[hello](https://example.com@evil.example/)", "hello {{page.ticket}}",
        "hello <button name=decision value=allow>", "# hello\n## hello", "<style>*{display:none}</style>\n\nhello",
        "[hello]: javascript:alert(1)\n\n[hello]", "<https://evil.example/\"onmouseover=alert(1)> hello",
    ])
    func `a malicious text is shown as text in its own frame`(text: String) async throws {
        let html = try await Self.html(text: text)
        #expect(html.contains("hello"))
        let start = try #require(html.range(of: "<section class=\"words\">"))
        let end = try #require(html.range(of: "</section>"))
        let frame = String(html[start.upperBound..<end.lowerBound])
        #expect(html.matches(of: /<\/section>/).count == 1)
        let allowed: Set = ["h2", "div", "p", "h3", "h4", "a", "bdi", "strong", "em", "ul", "ol", "li", "code", "pre"]
        #expect(Set(Self.elements(frame).keys).isSubset(of: allowed))
        #expect(!frame.contains("href=\"javascript") && !frame.contains("href=\"data") && !frame.contains("src="))
        #expect(!frame.contains("@evil.example"))
        #expect(html.matches(of: /value="allow"/).count == 1)
        #expect(html.matches(of: /<h1>/).count == 1)
        #expect(html.matches(of: /<form\b/).count == 2)
    }

    // A link that executes, reads a file or hides its host is not rendered as a link.
    @Test(arguments: [
        "javascript:alert(1)", "data:text/html,hello", "file:///etc/passwd", "http://darkroom.example/privacy",
        "https://example.com@evil.example/", "https:///privacy", "mailto:privacy@darkroom.example", "app:/privacy",
    ])
    func `a privacy policy URL that is not https is not linked`(address: String) async throws {
        let html = try await Self.html(privacy: address)
        #expect(!html.contains("target=\"_blank\""))
        #expect(!html.contains(address))
    }

    // The host is shown beside the link, with escaped attribute values.
    @Test func `the host of a privacy policy is shown`() async throws {
        let html = try await Self.html(privacy: "https://privacy.example:8443/a?b=c&d='e'")
        #expect(html.contains("href=\"https://privacy.example:8443/a?b=c&amp;d=&#39;e&#39;\""))
        #expect(html.contains("<bdi>(privacy.example:8443)</bdi>"))
    }
}
