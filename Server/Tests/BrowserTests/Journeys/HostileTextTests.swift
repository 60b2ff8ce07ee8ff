import Foundation
import TestSupport
import Testing

/// Hostile texts of a client, in a real browser under the real security policy.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct HostileTextTests {
    // A name with a period between words would be refused, because it looks like a host.
    private static let name = #""><img src=x onerror="document['title']='taken'">"#
    private static let words = """
        <script>document.title = 'taken'</script>

        <img src=x onerror="document.title='taken'"> ![pixel](https://elsewhere.example/pixel.png)

        [run](javascript:document.title='taken') [<svg onload="document.title='taken'">](https://example.com/"onclick=x)

        # A heading as large as ours

        <!-- --><iframe src="https://elsewhere.example/"></iframe>
        """
    private static let redirectURIs = [
        #"com.example.hostile:/"onfocus="document.title='taken'"autofocus="#, "com.example.hostile:/<script>x</script>",
        "com.example.hostile:/done?a='b'&c=%22%3E%3Cscript%3E",
    ]

    // The texts run no scripts, load nothing, and do not mislead the user.
    @Test func `malicious names, texts and URLs are shown as text and never executed`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.open("/apps/new?type=native")
            try await stage.fill("name", Self.name)
            try await stage.unfold()
            try await stage.fill("publisher", Self.name)
            try await stage.fill("redirect_uris", Self.redirectURIs.joined(separator: "\n"))
            try await browser.waitFor("verdicts") {
                try await browser.findAll("#redirect_uris-verdicts > li").count == 3
            }
            try await stage.fill("consent_text", Self.words)
            try await stage.fill("policy_uri", "javascript:document.title='taken'")
            try await expectUntaken(stage)
            try await stage.send("button[name=action][value=check]")
            _ = try await browser.waitForElement(".verdicts .refused")
            try await expectUntaken(stage)
            _ = try await browser.execute("document.querySelector('form[action]').noValidate = true")
            try await stage.send()
            _ = try await browser.waitForElement("#problems")
            try await expectUntaken(stage)

            try await stage.fill("redirect_uris", Self.redirectURIs[2])
            try await stage.fill("policy_uri", "")
            try await stage.send()
            try await stage.arrive(at: Self.name)
            try await expectUntaken(stage)
            let path = try await stage.path()
            for page in ["/edit", "/connect", "/logo", "/delete"] {
                try await stage.open(path + page)
                try await expectUntaken(stage)
            }
            try await stage.open("/apps")
            try await expectUntaken(stage)

            let id = String(path.dropFirst("/apps/".count))
            let escaped = Self.redirectURIs[2].addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            try await browser.navigate(to: stage.request(id, scope: "openid", redirectURI: escaped))
            try await stage.arrive(at: Self.name)
            try await expectUntaken(stage)
            #expect(try await browser.findAll(".words a[href^=javascript], .words h1, .words h2:not(#words)").isEmpty)
            let findings = try await PageAudit.findings(in: browser)
            #expect(findings == [])
            try await stage.expectNoComplaints()
            try await stage.expectNothingForeign()
        }
    }

    // The security policy of a page stops a script that got past escaping.
    @Test func `an injected script does not run`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/account", as: .alice)
            for markup in [
                "<img src=x onerror=\"document.title='taken'\">",
                "<iframe srcdoc=\"<script>parent.document.title='taken'</script>\"></iframe>",
            ] {
                _ = try await browser.execute(
                    "document.body.insertAdjacentHTML('beforeend', arguments[0])", [.string(markup)])
            }
            _ = try await browser.execute(
                """
                const script = document.createElement('script');
                script.textContent = "document.title = 'taken'";
                document.body.append(script);
                """)
            try await browser.waitFor("the browser to refuse") {
                try await browser.consoleMessages().contains { $0.contains("Content Security Policy") }
            }
            #expect(try await browser.title != "taken")
        }
    }

    private func expectUntaken(_ stage: Stage) async throws {
        let browser = stage.browser
        #expect(try await browser.title != "taken")
        let own = "img[src^='/logos/'], script[src^='/assets/']"
        #expect(
            try await browser.findAll("img:not(\(own)), script:not(\(own)), iframe, [onerror], [onfocus], [onload]")
                .isEmpty)
    }
}
