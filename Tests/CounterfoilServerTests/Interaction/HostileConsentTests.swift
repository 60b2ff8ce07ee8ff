import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import Foundation
import Testing

/// What a hostile application has registered never runs, loads or misleads on the page that a browser gets.
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

    /// The elements of a page by how often they are there.
    private static func elements(_ html: String) -> [String: Int] {
        html.matches(of: /<([A-Za-z!][A-Za-z0-9]*)/).reduce(into: [:]) {
            $0[String($1.1).lowercased(), default: 0] += 1
        }
    }

    // R243, UI-25: a name or a publisher is text, whatever it holds, and turns no text around.
    @Test(arguments: [
        "<img src=x onerror=alert(1)>", "</title><script>alert(1)</script>", "\"><svg onload=alert(1)>",
        "' autofocus='",
        "{{page.ticket}}", "[[sign-in.title]]", "{{{page.request}}}", "<!--", "\u{202E}elgooG\u{2066}", "\"\u{301}><b>",
        "Example Photos", "📷", String(repeating: "A", count: 10_000), "javascript:alert(1)", "&lt;b&gt;",
    ])
    func `a hostile name is text`(name: String) async throws {
        let plain = Self.elements(try await Self.html(publisher: "Somebody"))
        let html = try await Self.html(name: name, publisher: name)
        #expect(Self.elements(html) == plain)
        for scalar in "\u{202A}\u{202B}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}\u{200B}".unicodeScalars {
            #expect(!html.unicodeScalars.contains(scalar))
        }
        // The address that the answer goes to stands beside it, and is not the application's to choose.
        #expect(html.contains("<b><bdi>app.example</bdi></b>"))
        #expect(!html.contains(try await Self.ticketOutsideOfFields(html)))
    }

    private static func ticketOutsideOfFields(_ html: String) async throws -> String {
        let ticket = try #require(html.firstMatch(of: /name="ticket" value="([^"]+)"/)).1
        return ">" + ticket
    }

    // Raw HTML, pictures and dangerous links of the text are not on the page, and it cannot leave its frame.
    @Test(arguments: [
        "<script>alert(1)</script>\n\nhello", "hello <img src=x onerror=alert(1)>", "hello <svg onload=alert(1)>",
        "hello\n\n<iframe src=https://evil.example></iframe>", "hello <!-- comment --> there",
        "hello</div></section><form>",
        "![hello](https://evil.example/pixel.png) hello", "[hello](javascript:alert(1))",
        "[hello](data:text/html,<script>)", "[hello](https://example.com@evil.example/)", "hello {{page.ticket}}",
        "hello <button name=decision value=allow>", "# hello\n## hello", "<style>*{display:none}</style>\n\nhello",
        "[hello]: javascript:alert(1)\n\n[hello]", "<https://evil.example/\"onmouseover=alert(1)> hello",
    ])
    func `a hostile text is text in its own frame`(text: String) async throws {
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

    // SEC-09
    // A link that runs, reads a file or hides its host is no link.
    @Test(arguments: [
        "javascript:alert(1)", "data:text/html,hello", "file:///etc/passwd", "http://darkroom.example/privacy",
        "https://example.com@evil.example/", "https:///privacy", "mailto:privacy@darkroom.example", "app:/privacy",
    ])
    func `a privacy policy that is no page over https is not linked`(address: String) async throws {
        let html = try await Self.html(privacy: address)
        #expect(!html.contains("target=\"_blank\""))
        #expect(!html.contains(address))
    }

    // SEC-09
    // The host stands beside the link, with what could end the attribute escaped.
    @Test func `the host of a privacy policy is shown`() async throws {
        let html = try await Self.html(privacy: "https://privacy.example:8443/a?b=c&d='e'")
        #expect(html.contains("href=\"https://privacy.example:8443/a?b=c&amp;d=&#39;e&#39;\""))
        #expect(html.contains("<bdi>(privacy.example:8443)</bdi>"))
    }
}
