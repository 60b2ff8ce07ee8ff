import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

struct HostileConsentTextTests {
    @Test(arguments: [
        "<script>alert(1)</script>\n\na", "a <script>alert(1)</script>",
        "<SCRIPT SRC=//evil.example/x.js></SCRIPT>\n\na",
        "<img src=x onerror=alert(1)> a", "a <img src=x onerror=alert(1)>", "a <svg onload=alert(1)>",
        "<svg><animate onbegin=alert(1) attributeName=x></svg>\n\na", "a <svg/onload=alert(1)//",
        "<iframe src=https://evil.example></iframe>\n\na", "a <iframe srcdoc='<script>alert(1)</script>'>",
        "<!-- <script>alert(1)</script> -->\n\na", "a <!-- b --> c", "a <!--> b -->", "a <!-- -- --!><script>",
        "<?php a ?>\n\na", "<!DOCTYPE a [<!ENTITY b \"c\">]>\n\na &b;", "<![CDATA[<script>alert(1)</script>]]>\n\na",
        "a <style>*{display:none}</style>", "<style>\n*{display:none}\n</style>\n\na",
        "a <base href=https://evil.example>",
        "a <form action=https://evil.example><input name=password>", "a <meta http-equiv=refresh content=0>",
        "a <a href=javascript:alert(1)>b</a>", "a <b onmouseover=alert(1)>c</b>", "a </div></main></body>",
        "a <x\nonclick=alert(1)\n>", "<<script>script>alert(1)<</script>/script> a", "a < script >",
        "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;img src=x onerror=alert(1)&#62;", "\\<script\\>alert(1)",
        "`<script>alert(1)</script>`", "```\n</code></pre><script>alert(1)</script>\n```",
        "``` \"><script>alert(1)</script>\na\n```", "    <script>alert(1)</script>", "# <img src=x onerror=alert(1)> a",
        "- <script>\n- a", "> <script>alert(1)\n\na", "{{{page.ticket}}}{{> alert}}", "\"\u{0301} onload=alert(1) x=\"",
        "'\u{0338}><script>alert(1)</script>", "a&#0;b", "a &#1; &#x7f; &#xFFFF; b",
        "&amp;lt;script&amp;gt;", "&CounterClockwiseContourIntegral;&nGt;&acE;",
    ])
    func `raw HTML never reaches the page`(markdown: String) throws {
        let html = try ConsentText(markdown: markdown, formats: .standard).html.description
        let printed = try PrintedHTML(html)
        #expect(printed.violations == [])
        #expect(printed.elements.allSatisfy { $0.name != "a" })
        #expect(!html.contains("<script") && !html.contains("<img") && !html.contains("<!"))
    }

    // Every spelling of a link that executes, loads, or hides its destination.
    @Test(arguments: [
        "[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](&#106;avascript:alert(1))",
        "[a](&#x6A;avascript&colon;alert(1))", "[a](javascript&#58;alert(1))", "[a](java&Tab;script:alert(1))",
        "[a](java&NewLine;script:alert(1))", "[a](<java\tscript:alert(1)>)", "[a](< javascript:alert(1)>)",
        "[a](&#1;javascript:alert(1))", "[a](javascript\\:alert(1))", "[a](javascript%3Aalert(1))",
        "<javascript:alert(1)>", "<JAVASCRIPT:alert(1)>", "[a][1]\n\n[1]: javascript:alert(1)",
        "[a]\n\n[a]: <javascript:alert(1)>", "[a](vbscript:msgbox(1))", "[a](data:text/html,<script>alert(1)</script>)",
        "[a](data:text/html;base64,PHNjcmlwdD4=)", "<data:text/html,a>", "[a](blob:https://app.example/x)",
        "[a](file:///etc/passwd)", "[a](ftp://app.example/)", "[a](http://app.example/)", "<http://app.example/>",
        "[a](//evil.example/)", "[a](/account)", "[a](#b)", "[a](?b)", "[a]()", "[a](https:)",
        "[a](https:evil.example)",
        "[a](https:/evil.example)", "[a](https:///evil.example)", "[a](https:\\\\evil.example)",
        "[a](https://bank.example@evil.example/)", "<https://bank.example:x@evil.example/>",
        "[a](https://bank.example%2F@evil.example/)", "[a](https://evil%2Eexample/)", "[a](https://bаnk.example/)",
        "[a](<https://app.example/ b>)", "[a](https://app.example/&quot;onclick=alert(1))",
        "[a](https://app.example\\\\@evil.example/)", "[a](https://app.example:0/)", "[a](https://app.example:99999/)",
        "[a](https://app..example/)", "[a](https://.example/)", "[a](https://app.example/%)",
        "[a](https://app.example/<b>)", "[a](mailto:a@b.example%3Fbcc=c@d.example)",
        "[a](mailto:)", "[a](mailto:a@b.example,c@d.example)", "[a](mailto://evil.example/)", "[a](tel:+4712345678)",
        "[a](intent://evil.example#Intent;end)", "[a](com.example.app:/callback)",
        "![a](javascript:alert(1))", "![a](data:image/svg+xml,<svg/onload=alert(1)>)",
    ])
    func `a link that is neither https nor mailto becomes plain text`(markdown: String) throws {
        let printed = try PrintedHTML(ConsentText(markdown: markdown, formats: .standard).html.description)
        #expect(printed.elements.allSatisfy { $0.name == "p" })
        #expect(printed.text.contains("a"))
        #expect(printed.violations == [])
    }

    @Test(arguments: [
        ("[a](https://app.example/ \"b\\\" onclick=alert(1) x=\\\"\")", "a (app.example)"),
        ("[a \"><img src=x onerror=alert(1)>](https://app.example/)", "a \"> (app.example)"),
        ("[a [b](https://b.example/) c](https://c.example/)", "[a b (b.example) c](https://c.example/)"),
        (
            "[![a [b](https://b.example/)](https://c.example/x.png)](https://d.example/)",
            "[a b (b.example)](https://d.example/)"
        ),
        ("[a](mailto:a@b.example?bcc=c@d.example&body=x)", "a (a@b.example)"),
        ("[bank.example\u{202E}](https://evil.example/)", "bank.example (evil.example)"),
        ("[אבג](https://evil.example/)", "אבג (evil.example)"),
        ("[a](https://[::1]/)", "a ([::1])"),
        ("[https://bank.example/ <!-- -->](https://evil.example/)", "https://bank.example/ (evil.example)"),
    ])
    func `a link cannot break out of its element or hide its host`(markdown: String, text: String) throws {
        let printed = try PrintedHTML(ConsentText(markdown: markdown, formats: .standard).html.description)
        #expect(printed.text.split(whereSeparator: \.isWhitespace).joined(separator: " ") == text)
        #expect(printed.elements.filter { $0.name == "a" }.count == 1)
        #expect(printed.violations == [])
    }

    @Test(arguments: [
        ("a\u{202E}b\u{2066}c\u{2069}d\u{200F}e", "abcde"), ("a&#x202E;b&rlm;c&lrm;d", "abcd"),
        ("Go\u{200B}o\u{FEFF}g\u{00AD}l\u{3164}e", "Google"), ("`a\u{202E}b`", "ab"), ("    a\u{202D}b\u{200B}", "ab"),
        ("Z\u{0301}\u{0302}\u{0303}\u{0304}\u{0305}algo", "Z\u{0301}\u{0302}\u{0303}algo"),
        ("Z&#x301;&#x302;&#x303;&#x304;&#x305;algo", "Z\u{0301}\u{0302}\u{0303}algo"),
        ("**a**\u{0301}\u{0302}b", "ab"), ("a\u{E0041}\u{E0042}b", "ab"), ("a\u{2028}b\u{00A0}c", "a b c"),
        ("<https://app.example/\u{202E}moc>", "https://app.example/moc (app.example)"),
    ])
    func `control, invisible and combining characters are removed`(markdown: String, shown: String) throws {
        let printed = try PrintedHTML(ConsentText(markdown: markdown, formats: .standard).html.description)
        let text = printed.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(Array(text.unicodeScalars) == Array(shown.unicodeScalars))
        #expect(printed.violations == [])
    }

    // Depth, time and size are limited.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            String(repeating: "> ", count: 1000) + "a", String(repeating: ">", count: 3999) + "a",
            String(repeating: "- ", count: 1999) + "a", String(repeating: "1. ", count: 1300) + "a",
            String(repeating: "> - ", count: 900) + "a\n\nb", String(repeating: "*a ", count: 1300),
            String(repeating: "*a **b ", count: 280) + String(repeating: "c* d** ", count: 280),
            String(repeating: "*", count: 2000) + "a" + String(repeating: "*", count: 1999),
            String(repeating: "**a", count: 1333), String(repeating: "*", count: 3999) + "a",
            String(repeating: "[", count: 3999) + "a", String(repeating: "[a](", count: 1000),
            String(repeating: "![", count: 1999) + "a",
            String(repeating: "[", count: 1999) + "a"
                + String(repeating: "]", count: 1999), String(repeating: "`a``b", count: 800),
            String(repeating: "a_", count: 2000), String(repeating: "<a", count: 2000),
            String(repeating: "a<!-", count: 1000),
            String(repeating: "&#0;", count: 999) + "a", String(repeating: "a\t", count: 2000),
            (1...60).map { String(repeating: " ", count: $0) + "- a\n" }.joined(),
        ])
    func `a text made to exhaust the parser is parsed quickly and stays small`(markdown: String) throws {
        let text = try ConsentText(markdown: markdown, formats: .standard)
        let printed = try PrintedHTML(text.html.description)
        #expect(printed.depth <= 20)
        #expect(printed.text.contains("a"))
        #expect(printed.violations == [])
        #expect(text.html.description.utf8.count <= 40_000)
    }

    // A short reference can stand for a long URL many times.
    @Test func `links that would expand beyond the size limit are refused`() {
        let address = "https://app.example/" + String(repeating: "x", count: 1900)
        let markdown = String(repeating: "[a] ", count: 500) + "\n\n[a]: " + address
        #expect(throws: ConsentText.Refusal.tooMuchMarkup) { try ConsentText(markdown: markdown, formats: .standard) }
        #expect(Localizer.english(ConsentText.Refusal.tooMuchMarkup.text).contains("shorter links"))
    }
}
