import Foundation
import TestSupport
import Testing

/// The administration pages in a browser.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct AdministratorJourneyTests {
    // An administrator manages every client.
    @Test func `an administrator sees every client and decides its policy`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/admin/apps", as: .grace)
            #expect(try await browser.find("tbody").text.contains("Lightbox"))
            let path = "/apps/\(stage.lightbox)"
            try await stage.follow(path)
            try await stage.arrive(at: "Lightbox")
            #expect(try await browser.findAll(".alert").isEmpty)

            // Every viewer sees that a PKCE exemption is a risk.
            try await stage.follow(path + "/policy")
            try await stage.tick("pkce", "exempt-until")
            try await stage.fill("exempt_until", "yesterday")
            try await stage.send()
            _ = try await browser.waitForElement("#problems")
            #expect(try await browser.find("#exempt_until").property("value") == "yesterday")
            // The date field is shown only for the other choice.
            try await stage.fill("exempt_until", "")
            try await stage.tick("pkce", "s256-or-plain")
            try await stage.send()
            let danger = try await browser.waitForElement(".alert[role=note]").text
            #expect(danger.contains("(plain)") && danger.contains("never used"))
            try await stage.open("/admin/apps")
            let row = "tbody tr:has(a[href='\(path)'])"
            #expect(try await browser.findAll("\(row) .badge.danger").count == 1)

            try await stage.follow(path)
            try await stage.follow(path + "/policy")
            try await stage.tick("pkce", "s256")
            try await stage.send()
            try await stage.seeDone()
            #expect(try await browser.findAll(".alert").isEmpty)
            try await stage.expectNoComplaints()
        }
    }

    // The session lifetime is set per client, and invalid values are reported at their fields.
    @Test func `an administrator decides the lifetimes of refresh tokens`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            let path = "/apps/\(stage.lightbox)"
            try await stage.open(path + "/policy", as: .grace)
            // The refresh token settings are shown only if the client gets refresh tokens.
            try await stage.tick("refresh_tokens", "never")
            #expect(try await stage.sees("#refresh_lifetime") == false)
            try await stage.tick("refresh_tokens", "always")
            #expect(try await stage.sees("#refresh_lifetime"))
            #expect(try await browser.find("#refresh_lifetime-about").text.contains("180 days"))
            try await stage.fill("refresh_grace_period", "601")
            try await stage.fill("refresh_lifetime", "86400")
            // A native client has no secret, so its rotation setting is not shown.
            #expect(try await browser.findAll("[name=rotate_refresh_tokens]").isEmpty)
            try await stage.send()
            _ = try await browser.waitForElement("#problems a[href='#refresh_grace_period']")
            #expect(try await browser.find("#refresh_grace_period").property("value") == "601")
            #expect(try await PageAudit.findings(in: browser) == [])
            try await stage.fill("refresh_grace_period", "5")
            try await stage.send()
            try await stage.seeDone()
            let text = try await browser.text
            for words in ["Retry window for refreshes", "5 seconds", "24 hours", "30 days (default for this type)"] {
                #expect(text.contains(words), "\(words)")
            }
            try await stage.open(path + "/policy")
            try await stage.fill("refresh_grace_period", "")
            try await stage.fill("refresh_lifetime", "")
            try await stage.tick("refresh_tokens", "offline-access")
            try await stage.send()
            try await stage.seeDone()
            try await stage.expectNoComplaints()
        }
    }

    // An identifier may break anywhere, which must not make its column narrower than a word.
    @Test(arguments: [390, 1024, 1280, 1920])
    func `no column of the audit log is narrower than a word`(width: Int) async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.emulateScreen(width: width, height: 860)
            try await stage.site.administer(
                ["user", "create", "mallory", "--password-stdin"], typing: "a b c d e f g\n")
            try await stage.site.administer(["user", "delete", "mallory", "--yes"], typing: "")
            try await stage.open("/admin/audit", as: .grace)
            #expect(try await stage.sees("form[method=get]") == false)
            let text = try await browser.waitForElement(".log").text
            #expect(text.contains("Signing key") && text.contains("127.0.0.1"))
            let broken = try await browser.execute(
                """
                const broken = [];
                for (const cell of document.querySelectorAll('.log th, .log td')) {
                  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
                  // An identifier is longer, and can break anywhere, also beside a hyphen in it.
                  const words = () => [...texts.currentNode.data.matchAll(/\\S+/g)].filter(word => word[0].length < 20);
                  // A line that does not wrap is cut at its end.
                  const wraps = () => getComputedStyle(texts.currentNode.parentElement).whiteSpace !== 'nowrap';
                  while (texts.nextNode()) if (wraps()) for (const word of words()) for (const part of word[0].matchAll(/[^-]+/g)) {
                    const range = document.createRange();
                    range.setStart(texts.currentNode, word.index + part.index);
                    range.setEnd(texts.currentNode, word.index + part.index + part[0].length);
                    if (part[0].length < 14 && range.getClientRects().length > 1) broken.push(part[0]);
                  }
                }
                return broken;
                """)
            #expect(broken.array == [], "\(broken)")
            #expect(try await PageAudit.findings(in: browser) == [])
        }
    }

    // An event is a line of the table on a desktop, and a card on a phone; its details open in it.
    @Test(arguments: [390, 1280, 1920])
    func `an event of the audit log is one line on a desktop`(width: Int) async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.emulateScreen(width: width, height: 860)
            try await stage.open("/admin/audit?zone=Europe%2FOslo", as: .grace)
            #expect(try await browser.waitForElement(".log caption").text == "Times are in Europe/Oslo.")
            let lines = try await browser.execute(
                """
                return [...document.querySelectorAll('.log tbody tr')].map(row => {
                  const style = getComputedStyle(row.querySelector('td'));
                  return row.getBoundingClientRect().height / parseFloat(style.fontSize);
                }).filter(height => height > 4).length;
                """)
            if width >= 1280 { #expect(lines == 0) }
            #expect(try await browser.execute("return document.documentElement.scrollWidth <= innerWidth") == true)
            try await browser.find(".log tbody summary").click()
            #expect(try await browser.find(".log tbody [open] dl").text.contains("Time in UTC"))
            #expect(try await PageAudit.findings(in: browser) == [])
            try await stage.expectNoComplaints()
        }
    }

    @Test func `the pages show the branding, and the preview follows the fields`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/admin/branding", as: .grace)
            let button = "getComputedStyle(document.querySelector('.preview .button')).backgroundColor"
            let before = try await browser.execute("return \(button)")
            try await stage.fill("site_name", "Albums of the North")
            #expect(try await browser.find(".preview b").text == "Albums of the North")
            try await stage.tick("own_colour")
            try await stage.setColour("#7a1f5c")
            #expect(try await browser.execute("return \(button)") != before)
            let file = stage.site.folder.url.appendingPathComponent("site.png")
            try Drawing.sunrise.png().write(to: file)
            try await browser.find("input[name=logo]").choose(file)
            try await stage.fill("support_uri", "mailto:help@example.com")
            try await stage.send()
            try await stage.seeDone()
            #expect(try await browser.find(".bar").text.contains("Albums of the North"))

            try await browser.forget()
            try await stage.ask()
            try await stage.arrive(at: "Sign in to Albums of the North")
            let loaded = try await browser.execute("return document.querySelector('.logo.site img').naturalWidth > 0")
            #expect(loaded == true)
            #expect(try await browser.find("a[href^=mailto]").attribute("href") == "mailto:help@example.com")
            let colour = try await browser.execute(
                "return getComputedStyle(document.querySelector('.primary')).backgroundColor")
            #expect(colour != before)
            #expect(try await PageAudit.findings(in: browser) == [])
            try await stage.expectNoComplaints()
        }
    }

    // The operator's own text is separate from the text of the app.
    @Test func `the texts of the service are previewed, saved and shown on the consent page`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/admin/branding", as: .grace)
            try await stage.fill("consent_text_en", "Only **employees** may connect apps.")
            try await stage.fill("privacy_uri_en", "https://example.com/privacy")
            try await stage.send("button[value=preview]")
            #expect(try await browser.waitForElement(".words.ours strong").text == "employees")
            #expect(try await PageAudit.findings(in: browser) == [])
            try await stage.send()
            try await stage.seeDone()
            #expect(try await browser.find(".support a[target]").attribute("href") == "https://example.com/privacy")

            try await browser.forget()
            try await stage.ask()
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[value=allow]")
            #expect(try await browser.find(".words.ours strong").text == "employees")
            #expect(try await browser.findAll("a[href='https://example.com/privacy']").count == 1)
            #expect(try await PageAudit.findings(in: browser) == [])
            try await stage.expectNoComplaints()
        }
    }
}

extension Stage {
    /// Sets the colour by script, because browsers open a separate window for this field.
    func setColour(_ colour: String) async throws {
        let script = """
            const field = document.querySelector('input[type=color]');
            field.value = arguments[0];
            field.dispatchEvent(new Event('input', { bubbles: true }));
            """
        _ = try await browser.execute(script, [.string(colour)])
    }
}
