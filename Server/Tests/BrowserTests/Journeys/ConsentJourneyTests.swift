import TestSupport
import Testing

/// The consent page in a browser.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct ConsentJourneyTests {
    // The app's text and its privacy policy are shown before the user decides.
    // So is the host that receives the response.
    @Test func `the consent page shows the client, its text, the permissions and the redirect URI`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.ask()
            try await stage.signIn(as: .alice)
            try await stage.arrive(at: "Lightbox wants to access your Example Photos account")
            let pictured = try await browser.execute("return document.querySelector('.logo img').naturalWidth > 0")
            #expect(pictured == true)
            let text = try await browser.text
            for words in [
                "by Lightbox AS", "127.0.0.1", "Written by Lightbox, not by Example Photos",
                "Nothing goes to our own servers.", "See your photos and albums", "Alice Andersen", "al•••@example.com",
                "(lightbox.example)",
            ] {
                #expect(text.contains(words), "\(words)")
            }
            let words = try await browser.find("[role=region]")
            #expect(try await words.accessibleName == "Written by Lightbox, not by Example Photos")
            let privacy = try await stage.control("Privacy policy of Lightbox")
            #expect(try await privacy.attribute("href") == "https://lightbox.example/privacy")
            #expect(try await privacy.attribute("rel")?.contains("noopener") == true)
            // The text and the link precede the buttons.
            let order = try await browser.execute(
                """
                const allow = document.querySelector('[value=allow]');
                return ['.words', '[href*=privacy]'].every(css =>
                  document.querySelector(css).compareDocumentPosition(allow) & Node.DOCUMENT_POSITION_FOLLOWING);
                """)
            #expect(order == true)
            try await stage.expectNoComplaints()
        }
    }

    // An unticked permission is not granted, and the next request shows the earlier decision.
    @Test func `a permission that is left out is not granted, and the next page shows the last decision`() async throws
    {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.ask()
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[value=allow]")
            try await stage.answer("allow")
            try await stage.open("/account/apps/\(stage.lightbox)")
            try await stage.arrive(at: "Lightbox")
            #expect(try await browser.text.contains("See your photos"))
            #expect(try await browser.text.contains("Add photos") == false)

            try await stage.ask()
            #expect(try await browser.waitForElement(".permissions li:has(.new)").text.contains("Add photos"))
            #expect(try await browser.findAll(".permissions .new").count == 1)
            try await stage.read("You allowed some of this on")
        }
    }

    // The hint comes from a cookie of this browser, and it is deleted on request.
    @Test func `the sign-in page shows who signed in before, and removes the hint on request`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.ask()
            #expect(try await browser.findAll(".who").isEmpty)
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[value=allow]")
            try await stage.open("/account")
            try await stage.signOut()
            try await stage.ask()
            let hint = try await browser.waitForElement(".who").text
            #expect(hint.contains("Alice Andersen") && hint.contains("al•••@example.com"))
            #expect(!hint.contains("alice@"))
            try await stage.send(".who button")
            try await browser.waitFor("the hint to go") { try await browser.findAll(".who").isEmpty }
            try await stage.ask()
            #expect(try await browser.findAll(".who").isEmpty)
        }
    }

    // RFC 8252 §8.12: no sign-in inside a web view.
    @Test func `a web view gets no password field, but a link to the browser`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.introduce(as: WebViews.android)
            try await stage.ask()
            let way = try await browser.waitForElement("a.primary").attribute("href") ?? ""
            #expect(try await browser.findAll("input[type=password]").isEmpty)
            #expect(way.hasPrefix("intent://localhost:"))
            let address = try await browser.find("textarea").property("value")?.string ?? ""
            #expect(address.hasPrefix(stage.site.issuer + "/oauth2/authorize?") && address.contains(stage.lightbox))
        }
    }

    @Test(arguments: [
        ("de-CH, de;q=0.9, en;q=0.5", "de"), ("nb-NO", "nb"), ("fr", "fr"), ("es-419, en;q=0.1", "es"), ("ja", "en"),
    ])
    func `the pages are in the user's language`(asked: String, language: String) async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.prefer(languages: asked)
            try await stage.ask()
            try await expectLanguage(language, in: browser)
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[value=allow]")
            try await expectLanguage(language, in: browser)
            for path in ["/account", "/account/sessions", "/account/password", "/apps", "/apps/new?type=native"] {
                try await stage.open(path)
                try await expectLanguage(language, in: browser)
            }
        }
    }

    @Test func `a user signs in, selects an optional permission and allows it with the keyboard alone`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.ask()
            try await browser.waitForFocus(at: "username")
            try await browser.write(Account.alice.name)
            try await browser.press(Key.tab)
            try await browser.write(Account.alice.password)
            try await browser.press(Key.enter)
            try await stage.arrive(at: "Lightbox wants to")
            try await browser.tab(to: "Add photos to your albums")
            try await browser.press(Key.space)
            try await browser.tab(to: "Allow")
            try await browser.press(Key.enter)
            try await browser.waitFor("the answer to leave") {
                try await browser.requestedURLs().contains { $0.hasPrefix(Stage.redirectURI + "?code=") }
            }
            try await stage.open("/account/apps/\(stage.lightbox)")
            #expect(try await browser.text.contains("Add photos"))
        }
    }

    /// Expects that the page is in a language and shows no catalogue key or placeholder.
    private func expectLanguage(_ language: String, in browser: Browser) async throws {
        #expect(try await browser.find("html").attribute("lang") == language)
        let text = try await browser.text
        #expect(
            text.firstMatch(of: /\[\[|\]\]|\{\w+\}|\b(?:consent|sign-in|account|console|applications)\.[a-z]+[.-]/)
                == nil)
        let findings = try await PageAudit.findings(in: browser)
        #expect(findings == [])
    }
}
