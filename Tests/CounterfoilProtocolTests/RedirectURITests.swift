import CounterfoilProtocol
import TestSupport
import Testing

struct RedirectURITests {
    // The three spellings of the loopback host, and the three kinds of redirect URI in RFC 8252 §7.
    @Test(arguments: [
        ("http://127.0.0.1/callback", RedirectURI.Kind.loopback(.ipv4, port: nil)),
        ("http://127.0.0.1:51004/", .loopback(.ipv4, port: 51004)),
        ("http://[::1]:8080/cb", .loopback(.ipv6, port: 8080)),
        ("http://localhost:1/cb", .loopback(.localhost, port: 1)), ("http://127.0.0.1", .loopback(.ipv4, port: nil)),
        ("com.example.app:/callback", .privateUseScheme("com.example.app")),
        ("https://app.example/cb?x=1", .https(host: "app.example")),
    ])
    func `each kind is recognized, and the text is kept`(text: String, kind: RedirectURI.Kind) throws {
        let uri = try RedirectURI(text)
        #expect(uri.kind == kind)
        #expect(uri.rawValue == text)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `any redirect URI keeps its text`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let hosts = [
            "http://127.0.0.1", "http://[::1]", "http://localhost", "https://app.example", "https://a.b.example",
        ]
        for _ in 0..<SeededGenerator.rounds {
            let port = random.maybe { ":\(Int.random(in: 1...65535, using: &$0))" } ?? ""
            let path = "/" + random.text(0...20, of: Alphabet.unreserved + "/:@!$'()*,;")
            let query = random.maybe { "?" + $0.text(0...20, of: Alphabet.unreserved + "=&?/") } ?? ""
            let text = (hosts.randomElement(using: &random) ?? "") + port + path + query
            #expect(try RedirectURI(text).rawValue == text)
        }
    }

    // Parsing of network input must terminate with a value or an error for any text.
    @Test(arguments: SeededGenerator.seeds)
    func `any text is a redirect URI or refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            let text = ["http://", "https://", "com.example:/", ""].randomElement(using: &random) ?? ""
            let whole = text + random.text(0...30, of: Alphabet.visible + "é\0\n")
            if let uri = try? RedirectURI(whole) { #expect(uri.rawValue == whole) }
        }
    }

    @Test(arguments: [
        "https://app.example/cb#x", "https://app.example/cb#", "com.example.app:/cb#x", "https://user@app.example/cb",
        "https://user:secret@app.example/cb", "http://app.example/cb", "http://127.0.0.2/cb",
        "http://127.0.0.1.evil/cb",
        "http://2130706433/cb", "http://0x7f.1/cb", "http://[::ffff:127.0.0.1]/cb", "http://LOCALHOST/cb",
        "http://127.0.0.1:0/cb", "http://127.0.0.1:65536/cb", "http://127.0.0.1:080/cb", "http://127.0.0.1:/cb",
        "http:///cb", "https:///cb", "https:cb", "/cb", "//evil.example/cb", "cb", "", ":", "1a:/cb",
        "javascript:alert(1)",
        "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "about:blank",
        "blob:https://x/y", "filesystem:https://x/y", "view-source:https://x", "intent://x", "https://app.example/ cb",
        "https://app.example/cb%", "https://app.example/cb%2", "https://app.example/cb\r\nX: y",
        "https://app.example/\u{e9}",
        "https://app.example\\@evil.example/", "https://[::1/cb", "https://app.example]/cb",
    ])
    func `an invalid redirect URI is refused`(text: String) {
        #expect(throws: RedirectURI.Refusal.self) { try RedirectURI(text) }
    }

    // The only list of schemes to which a browser must never be redirected.
    @Test(arguments: [
        ("javascript", true), ("JavaScript", true), ("data", true), ("vbscript", true), ("blob", true), ("about", true),
        ("filesystem", true), ("view-source", true), ("file", true), ("mailto", true), ("https", false),
        ("http", false),
        ("com.example.app", false), ("vscode", false),
    ])
    func `browsers handle these schemes themselves`(scheme: String, isHandled: Bool) {
        #expect(RedirectURI.isHandledByBrowsers(scheme: scheme) == isHandled)
    }

    @Test func `64 KiB are refused immediately`() {
        #expect(throws: RedirectURI.Refusal.notAURI(.tooLong)) {
            try RedirectURI("https://app.example/" + String(repeating: "a", count: 65536))
        }
    }

    // An existing query is kept and extended.
    @Test(arguments: [
        ("https://app.example/cb", "https://app.example/cb?code=x%26y"),
        ("https://app.example/cb?a=1", "https://app.example/cb?a=1&code=x%26y"),
        ("https://app.example/cb?", "https://app.example/cb?code=x%26y"),
        ("https://app.example", "https://app.example?code=x%26y"),
        ("http://127.0.0.1:7777/", "http://127.0.0.1:7777/?code=x%26y"),
        ("com.example.app:/cb", "com.example.app:/cb?code=x%26y"),
        ("https://app.example/cb?a=%20b+c", "https://app.example/cb?a=%20b+c&code=x%26y"),
    ])
    func `response parameters are added to the query`(text: String, expected: String) throws {
        #expect(try RedirectURI(text).appending(FormParameters(["code": "x&y"])) == expected)
    }
}
