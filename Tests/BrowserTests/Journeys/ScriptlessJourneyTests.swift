import Foundation
import Testing

/// People whose browser runs no scripts: only buttons that copy and verdicts while one types are missing.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct ScriptlessJourneyTests {
    @Test func `an application is registered without JavaScript`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.allowScripts(false)
            try await stage.open("/apps", as: .alice)
            try await stage.press("Register an application")
            try await stage.press("Native / mobile")
            try await stage.arrive(at: "Register an application")
            #expect(try await browser.find("html").attribute("class") == nil)
            try await stage.fill("name", "No scripts")
            try await stage.fill("redirect_uris", "http://127.0.0.1/callback\nmyapp:/done")
            try await stage.press("Check the redirect URIs")
            _ = try await browser.waitForElement(".verdicts .refused")
            #expect(try await browser.findAll(".verdicts .accepted").count == 1)
            #expect(try await browser.findAll("#problems").isEmpty)
            #expect(try await browser.find("#name").property("value") == "No scripts")

            try await stage.fill("redirect_uris", "http://127.0.0.1/callback")
            try await stage.tick("scope", "openid")
            try await stage.press("Register an application")
            try await stage.arrive(at: "No scripts")
            // The client id is there to read; a button that would do nothing is not.
            #expect(try await browser.find("[data-copy] code").text.hasPrefix("app_"))
            #expect(try await browser.find(".copy").property("offsetParent") == nil)
            let file = stage.site.folder.url.appendingPathComponent("logo.png")
            try Drawing.sunrise.png().write(to: file)
            try await stage.press("Picture")
            try await browser.waitForElement("input[name=logo]").choose(file)
            try await stage.press("Use this picture")
            try await stage.read("Your changes are saved")
            try await stage.press("Delete …")
            try await stage.press("Delete it for good")
            try await stage.read("The application is gone")
        }
    }

    @Test func `consent is given and taken back without JavaScript`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.allowScripts(false)
            try await stage.ask()
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[value=allow]")
            try await stage.tick("permission.photos.write")
            try await stage.answer("allow")
            try await stage.open("/account")
            try await stage.press("Lightbox")
            try await stage.press("Disconnect")
            try await stage.read("The app is disconnected.")
        }
    }

    @Test func `the pages are branded without JavaScript`() async throws {
        try await Stage.enter { stage in
            try await stage.browser.allowScripts(false)
            try await stage.open("/admin/branding", as: .grace)
            try await stage.fill("site_name", "Albums of the South")
            try await stage.tick("own_colour")
            try await stage.press("Save")
            try await stage.read("The pages look like this from now on.")
            #expect(try await stage.browser.find(".bar").text.contains("Albums of the South"))
            try await stage.press("Back to the standard look")
            try await stage.arrive(at: "Look of the pages")
            try await stage.browser.waitFor("the old name") {
                try await stage.browser.find(".bar").text.contains("Example Photos")
            }
        }
    }
}
