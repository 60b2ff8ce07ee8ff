import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
import Testing

struct ConsentTextTests {
    @Test(arguments: [
        ("Lightbox *reads* your **photos**.", "<p>Lightbox <em>reads</em> your <strong>photos</strong>.</p>"),
        ("- albums\n- photos", "<ul>\n<li>albums\n</li>\n<li>photos\n</li>\n</ul>"),
        ("1. a\n2. b", "<ol>\n<li>a\n</li>\n<li>b\n</li>\n</ol>"),
        ("7. a", "<ol start=\"7\">\n<li>a\n</li>\n</ol>"),
        ("- a\n\n- b", "<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>"),
        ("> quoted", "<blockquote>\n<p>quoted</p>\n</blockquote>"),
        ("one\ntwo  \nthree", "<p>one\ntwo<br>\nthree</p>"),
        ("a\r\n\r\nb\rc", "<p>a</p>\n<p>b\nc</p>"),
        ("a\n\n---\n\nb", "<p>a</p>\n<hr>\n<p>b</p>"),
        ("`a <b>` & c", "<p><code>a &lt;b&gt;</code> &amp; c</p>"),
        ("```swift\nlet a  = \"1\"\n\tb\n```", "<pre><code>let a  = &quot;1&quot;\n\tb\n</code></pre>"),
        ("# A\n## B\n### C\n###### D", "<h3>A</h3>\n<h4>B</h4>\n<h5>C</h5>\n<h5>D</h5>"),
        ("![a *view*](https://app.example/x.png)", "<p>a <em>view</em></p>"),
        ("é 写真 👩‍👩‍👧 می‌خواهم", "<p>é 写真 👩‍👩‍👧 می‌خواهم</p>"),
    ])
    func `Markdown is rendered as its author meant it`(markdown: String, html: String) throws {
        let printed = try ConsentText(markdown: markdown, formats: .standard).html.description
        #expect(Self.withoutEmptyLines(printed) == Self.withoutEmptyLines(html))
        #expect(try PrintedHTML(printed).violations == [])
    }

    // A link over https, followed by its host unless the text states it.
    @Test(arguments: [
        ("[Terms](https://app.example/terms)", "https://app.example/terms", "Terms (app.example)"),
        ("<https://app.example/a>", "https://app.example/a", "https://app.example/a"),
        ("[app.example](https://app.example/a)", "https://app.example/a", "app.example"),
        ("[https://app.example](https://app.example/)", "https://app.example/", "https://app.example"),
        ("[bank.example](https://evil.example/)", "https://evil.example/", "bank.example (evil.example)"),
        (
            "[https://bank.example/](https://evil.example/)", "https://evil.example/",
            "https://bank.example/ (evil.example)"
        ),
        ("[a](HTTPS://App.Example:8443/a)", "HTTPS://App.Example:8443/a", "a (app.example:8443)"),
        ("[a](https://app.example/Käse?q=ü)", "https://app.example/K%C3%A4se?q=%C3%BC", "a (app.example)"),
        ("[](https://app.example/)", "https://app.example/", "app.example"),
        ("[&ZeroWidthSpace;](https://app.example/)", "https://app.example/", "app.example"),
        ("[a][1]\n\n[1]: https://app.example/ 'quoted \" title'", "https://app.example/", "a (app.example)"),
        ("[*a* `b`](https://app.example/?a=1&b='2')", "https://app.example/?a=1&b='2'", "a b (app.example)"),
        ("<help@app.example>", "mailto:help@app.example", "help@app.example"),
        ("[Write](mailto:help@app.example)", "mailto:help@app.example", "Write (help@app.example)"),
    ])
    func `a link states its destination`(markdown: String, address: String, text: String) throws {
        let printed = try PrintedHTML(ConsentText(markdown: markdown, formats: .standard).html.description)
        let links = printed.elements.filter { $0.name == "a" }
        #expect(links.map { $0.attributes["href"] } == [address])
        #expect(links.first?.attributes["rel"] == "noopener noreferrer nofollow ugc")
        #expect(Self.trimmed(printed.text) == text)
        #expect(printed.violations == [])
    }

    // Texts that cannot be registered, and the reason that the owner reads.
    @Test(arguments: [
        (
            String(repeating: "a", count: 4001), ConsentText.Refusal.tooLong(characters: 4001),
            "The text has 4001 characters. Shorten it to at most 4000."
        ),
        (
            String(repeating: "\n", count: 200), .tooManyLines,
            "The text has more than 200 lines. Shorten it."
        ),
        (
            "a\nb\u{07}", .controlCharacter(line: 2),
            "Line 2 of the text contains a control character. Enter that line again."
        ),
        (
            "\u{85}", .controlCharacter(line: 1),
            "Line 1 of the text contains a control character. Enter that line again."
        ),
        (
            "<!-- nothing -->", .nothingToSee,
            "None of the text would be visible: HTML and images are left out. Write it in words, or leave the field empty."
        ),
    ])
    func `a text that cannot be shown is refused with the reason`(
        markdown: String, refusal: ConsentText.Refusal, said: String
    ) {
        #expect(throws: refusal) { try ConsentText(markdown: markdown, formats: .standard) }
        #expect(Localizer.english(refusal.text) == said)
    }

    @Test(arguments: [
        "", " \n\t", "\u{200B}", "\u{202E}\u{2066}", "![](https://app.example/x.png)", "---", "<div></div>", "[a]: /b",
        "<br>", "```\n```",
    ])
    func `a text without visible content is refused`(markdown: String) {
        #expect(throws: ConsentText.Refusal.nothingToSee) { try ConsentText(markdown: markdown, formats: .standard) }
    }

    @Test func `a text at the limits of length and lines is shown`() throws {
        let line = String(repeating: "ö", count: 19) + "\n"
        let text = try ConsentText(
            markdown: String(repeating: line, count: 199) + String(repeating: "x", count: 20), formats: .standard)
        #expect(try PrintedHTML(text.html.description).text.filter { $0 == "ö" }.count == 199 * 19)
    }

    private static func withoutEmptyLines(_ html: String) -> [Substring] {
        html.replacing(">\n<", with: "><").replacing("><", with: ">\n<").split(separator: "\n")
    }

    private static func trimmed(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
