import Foundation
import Testing

/// An administrator.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct AdministratorJourneyTests {
    // UI-39: an administrator looks after every application.
    @Test func `an administrator sees every application and decides its policy`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/admin", as: .grace)
            #expect(try await browser.find("tbody").text.contains("Lightbox"))
            try await stage.press("Lightbox")
            try await stage.arrive(at: "Lightbox")
            #expect(try await browser.findAll(".note [class*=alert], .alert").isEmpty)

            // B-04: an exception from PKCE is a danger that everybody who looks can see.
            try await stage.press("Policy")
            try await stage.arrive(at: "Policy")
            try await stage.tick("pkce", "exempt-until")
            try await stage.fill("exempt_until", "yesterday")
            try await stage.press("Save")
            _ = try await browser.waitForElement("#problems")
            #expect(try await browser.find("#exempt_until").property("value") == "yesterday")
            try await stage.tick("pkce", "s256-or-plain")
            try await stage.fill("exempt_until", "")
            try await stage.press("Save")
            try await stage.read("may send its proof of possession in the clear (plain)")
            try await stage.read("It was never used")
            try await stage.open("/admin")
            #expect(try await browser.find("tbody tr").text.contains("exception from PKCE"))

            try await stage.press("Lightbox")
            try await stage.press("Policy")
            try await stage.tick("pkce", "s256")
            try await stage.press("Save")
            try await stage.read("Your changes are saved")
            #expect(try await browser.text.contains("in the clear") == false)
            try await stage.expectNoComplaints()
        }
    }

    @Test func `the look of the pages follows the branding, and the preview follows the fields`() async throws {
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
            try await stage.press("Save")
            try await stage.read("The pages look like this from now on.")
            #expect(try await browser.find(".bar").text.contains("Albums of the North"))

            try await browser.forget()
            try await stage.ask()
            try await stage.arrive(at: "Sign in to Albums of the North")
            let loaded = try await browser.execute("return document.querySelector('.logo.site img').naturalWidth > 0")
            #expect(loaded == true)
            #expect(try await browser.find(".support a").attribute("href") == "mailto:help@example.com")
            let colour = try await browser.execute(
                "return getComputedStyle(document.querySelector('.primary')).backgroundColor")
            #expect(colour != before)
            #expect(try await PageAudit.findings(in: browser) == [])
            try await stage.expectNoComplaints()
        }
    }
}

extension Stage {
    /// Picks a colour, for which browsers open a window of their own.
    func setColour(_ colour: String) async throws {
        let script = """
            const field = document.querySelector('input[type=color]');
            field.value = arguments[0];
            field.dispatchEvent(new Event('input', { bubbles: true }));
            """
        _ = try await browser.execute(script, [.string(colour)])
    }
}
