import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
import TestSupport
import Testing

struct RandomConsentTextTests {
    /// Tokens with a meaning in Markdown or HTML, and some without.
    private static let pieces = [
        "a", "bc ", " ", "  ", "\n", "\n\n", "    ", "\t", "*", "**", "_", "__", "`", "```", "~~~", "#", "## ", "> ",
        "- ", "+ ", "1. ", "23) ", "---", "===", "[", "]", "(", ")", "![", "](", "]: ", "<", ">", "</", "/>", "\"", "'",
        "&", "&amp;", "&#106;", "&lt;", "&#x202E;", "\\", "\\\n", "https://app.example/", "javascript:", "data:",
        "mailto:a@b.example", "<https://app.example/>", "<script>", "</script>", "<!--", "-->", "<img src=x onerror=y>",
        "<div>", "<?", "?>", "<![CDATA[", "]]>", "\u{202E}", "\u{200B}", "\u{0301}", "\u{FEFF}", "ö", "写", "👩‍👩‍👧",
        "\u{FFFE}", "\u{10FFFF}", "[a]", "[a]: https://app.example/b", "https://a@b/", "onclick=", "=", ":", "@", "%",
    ]

    @Test(arguments: 0..<8)
    func `any text prints allowed elements only, correctly nested`(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        var shown = 0
        for _ in 0..<250 {
            let count = Int.random(in: 1...120, using: &numbers)
            let markdown = (0..<count).compactMap { _ in Self.pieces.randomElement(using: &numbers) }.joined()
            guard let text = try? ConsentText(markdown: markdown, formats: .standard) else { continue }
            let printed = try PrintedHTML(text.html.description)
            #expect(printed.violations == [], "\(markdown)")
            #expect(printed.depth <= 20, "\(markdown)")
            shown += 1
        }
        #expect(shown > 200)
    }
}
