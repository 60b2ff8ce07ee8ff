import Foundation
import TestSupport
import Testing

/// The pages in a browser without scripts, where only copy buttons and verdicts while typing are missing.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct ScriptlessJourneyTests {
    @Test func `a device is connected without JavaScript, with the keyboard alone`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.allowScripts(false)
            let device = try await stage.waitingDevice()
            try await stage.open("/device")
            // The field has the focus.
            try await browser.waitForElement("#user_code:focus").type(device.userCode.lowercased() + Key.enter)
            try await browser.waitForElement("#username:focus").type(Account.alice.name)
            try await browser.find("#password").type(Account.alice.password + Key.enter)
            try await browser.waitForElement("[value=allow]").type(Key.enter)
            try await stage.arrive(at: "Your device is connected")
        }
    }

    @Test func `an app is registered without JavaScript`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.allowScripts(false)
            try await stage.open("/apps", as: .alice)
            try await stage.follow("/apps/new")
            try await stage.follow("/apps/new?type=native")
            _ = try await browser.waitForElement("#redirect_uris")
            #expect(try await browser.find("html").attribute("class") == nil)
            try await stage.fill("name", "No scripts")
            try await stage.fill("redirect_uris", "http://127.0.0.1/callback\nmyapp:/done")
            try await stage.send("button[name=action][value=check]")
            _ = try await browser.waitForElement("#redirect_uris-verdicts > .refused")
            #expect(try await browser.findAll("#redirect_uris-verdicts > .accepted").count == 1)
            #expect(try await browser.findAll("#problems").isEmpty)
            #expect(try await browser.find("#name").property("value") == "No scripts")

            try await stage.fill("redirect_uris", "http://127.0.0.1/callback")
            try await stage.send()
            try await stage.arrive(at: "No scripts")
            // The client ID is visible, and the copy button is not, because it would not work.
            #expect(try await browser.find("[data-copy] code").text.hasPrefix("app_"))
            #expect(try await browser.find(".copy").property("offsetParent") == nil)
            let file = stage.site.folder.url.appendingPathComponent("logo.png")
            try Drawing.sunrise.png().write(to: file)
            let path = try await stage.path()
            try await stage.follow(path + "/logo")
            try await browser.waitForElement("input[name=logo]").choose(file)
            try await stage.send("button[value=replace]")
            try await stage.seeDone()
            try await stage.open(path)
            try await stage.follow(path + "/delete")
            try await stage.send("main form button.destructive")
            try await stage.seeDone()
        }
    }

    // Irreversible actions need confirmation, also without scripts.
    @Test func `a secret is created and deleted without JavaScript, with a confirmation`()
        async throws
    {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.allowScripts(false)
            try await stage.open("/apps", as: .alice)
            try await stage.open("/apps/new?type=service")
            try await stage.fill("name", "Nightly copy")
            try await stage.tick("scope", "photos.read")
            try await stage.send()
            #expect(try await stage.newSecret().count >= 43)
            #expect(try await browser.findAll(Stage.secretRows).count == 1)
            try await stage.open(try await stage.secretsPath())
            #expect(try await stage.sees("button[value=remove]") == false)
            // Opening the question removes nothing.
            try await browser.find("\(Stage.secretRows) summary").click()
            try await stage.open(try await stage.secretsPath())
            #expect(try await browser.findAll(Stage.secretRows).count == 1)
            try await stage.removeFirstSecret()
            #expect(try await browser.findAll(Stage.secretRows).isEmpty)
        }
    }

    @Test func `consent is given and revoked without JavaScript`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.allowScripts(false)
            try await stage.ask()
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[value=allow]")
            try await stage.tick("permission.photos.write")
            try await stage.answer("allow")
            try await stage.open("/account")
            try await stage.follow("/account/apps/\(stage.lightbox)")
            try await stage.send("button[value=disconnect]")
            try await stage.seeDone()
        }
    }

    @Test func `the pages are branded without JavaScript`() async throws {
        try await Stage.enter { stage in
            try await stage.browser.allowScripts(false)
            try await stage.open("/admin/branding", as: .grace)
            try await stage.fill("site_name", "Albums of the South")
            try await stage.tick("own_colour")
            // The user can preview the fields before they are saved.
            try await stage.send("button[value=preview]")
            #expect(try await stage.browser.find(".preview b").text == "Albums of the South")
            #expect(try await stage.browser.find("#site_name").property("value") == "Albums of the South")
            try await stage.open("/admin/branding")
            #expect(try await stage.browser.find(".bar").text.contains("Example Photos"))
            try await stage.fill("site_name", "Albums of the South")
            try await stage.tick("own_colour")
            try await stage.send()
            try await stage.seeDone()
            #expect(try await stage.browser.find(".bar").text.contains("Albums of the South"))
            try await stage.send("button[value=standard]")
            try await stage.browser.waitFor("the old name") {
                try await stage.browser.find(".bar").text.contains("Example Photos")
            }
        }
    }
}
