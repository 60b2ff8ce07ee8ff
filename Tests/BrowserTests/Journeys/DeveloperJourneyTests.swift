import Foundation
import Testing

/// A developer at My Apps.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct DeveloperJourneyTests {
    // R007, R008: the type is chosen in the console, and a native application gets no secret, nowhere.
    @Test func `a developer registers a native application, tries it, changes it and deletes it`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.press("Register an application")
            try await stage.arrive(at: "What is it?")
            try await stage.press("Native / mobile")
            try await stage.arrive(at: "Register an application")
            #expect(try await browser.text.contains("gets no secret"))

            // Verdicts appear while the addresses are typed, before anything is sent.
            try await stage.fill("name", "Picture Frames")
            try await stage.fill("redirect_uris", "http://127.0.0.1/callback\nmyapp:/done\nhttp://localhost/callback")
            try await browser.waitFor("three verdicts") {
                try await browser.findAll("#redirect_uris-verdicts > li").count == 3
            }
            #expect(try await states(browser) == ["accepted", "refused", "warned"])
            #expect(try await browser.find("li.refused").text.contains("com.example.app:/callback"))
            #expect(try await browser.find("#said").property("textContent")?.string?.contains("Refused") == true)

            // What is wrong stands at its field, what was typed is kept, and the focus is at the summary.
            try await stage.press("Register an application")
            _ = try await browser.waitForElement("#problems")
            #expect(try await browser.title.hasPrefix("Error: Register an application"))
            try await browser.waitFor("the focus at the summary") {
                try await browser.focused().attribute("id") == "problems"
            }
            #expect(try await browser.find("#redirect_uris").attribute("aria-invalid") == "true")
            #expect(try await browser.find("#name").property("value") == "Picture Frames")
            try await browser.find("#problems a").click()
            #expect(try await browser.focused().attribute("id") == "redirect_uris")

            try await stage.fill("redirect_uris", "http://127.0.0.1/callback")
            try await stage.tick("scope", "openid")
            try await stage.press("Register an application")
            try await stage.arrive(at: "Picture Frames")
            try await stage.read("The application is registered.")
            #expect(try await browser.text.localizedCaseInsensitiveContains("secret") == false)
            let path = try await stage.path()

            try await stage.fill("uri", "http://127.0.0.1:49152/callback")
            try await stage.press("Try it")
            try await stage.read("the application chooses it")
            try await stage.fill("uri", "http://localhost:49152/callback")
            try await stage.press("Try it")
            try await stage.read("The redirect_uri of the request is not registered")

            try await stage.press("Change")
            try await stage.arrive(at: "Change what is registered")
            try await stage.fill("publisher", "Frames & Sons")
            try await stage.press("Save")
            try await stage.read("Your changes are saved")
            #expect(try await browser.find(".stub").text.contains("Frames & Sons"))

            try await stage.press("How to connect")
            try await stage.arrive(at: "How to connect")
            let command = try await browser.find("pre code").text
            #expect(command.contains("counterfoil login"))
            #expect(command.contains(stage.site.issuer) && command.contains(path.dropFirst("/apps/".count)))
            // There is no page for what a native application does not have.
            try await stage.open(path + "/secrets")
            try await stage.arrive(at: "There is nothing here")

            try await stage.open(path)
            try await stage.press("Delete …")
            try await stage.press("Delete it for good")
            try await stage.read("The application is gone")
            try await stage.open(path)
            try await stage.arrive(at: "There is nothing here")
            try await stage.expectNoComplaints()
        }
    }

    // R065: My Apps lists a developer's own applications with their client ids in a column.
    @Test func `My Apps shows each client id in a column, with a button that copies it`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.open("/apps/new?type=device")
            try await stage.fill("name", "Frame on the wall")
            try await stage.tick("scope", "openid")
            try await stage.press("Register an application")
            try await stage.arrive(at: "Frame on the wall")
            let id = try await stage.path().dropFirst("/apps/".count)

            try await stage.open("/apps")
            var columns: [String] = []
            for column in try await browser.findAll("thead th") { columns.append(try await column.text) }
            #expect(columns == ["Application", "Type", "Client ID"])
            let row = "tbody tr:has(a[href='/apps/\(id)'])"
            #expect(try await browser.find("\(row) td:nth-child(3) code").text == id)

            try await browser.allowClipboard(stage.site.origin)
            let button = try await browser.find("\(row) .copy")
            #expect(try await button.accessibleName == "Copy Client ID")
            try await button.click()
            try await browser.waitFor("the button to say that it has copied") { try await button.text == "Copied" }
            #expect(try await browser.execute("return navigator.clipboard.readText()").string == String(id))
            try await browser.waitFor("the button to be as before") {
                try await button.accessibleName == "Copy Client ID"
            }
        }
    }

    @Test func `an uploaded picture stands in the place of initials`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.open("/apps/new?type=native")
            try await stage.fill("name", "Sunrise")
            try await stage.fill("redirect_uris", "com.example.sunrise:/done")
            try await stage.tick("scope", "openid")
            try await stage.press("Register an application")
            try await stage.arrive(at: "Sunrise")
            #expect(try await browser.find(".stub .logo").text == "Su")

            let file = stage.site.folder.url.appendingPathComponent("sunrise.png")
            try Data("no picture at all".utf8).write(to: file)
            try await stage.press("Picture")
            try await browser.waitForElement("input[name=logo]").choose(file)
            try await stage.press("Use this picture")
            try await stage.read("This is not a picture that can be a logo")
            try Drawing.sunrise.png().write(to: file)
            try await browser.find("input[name=logo]").choose(file)
            try await stage.press("Use this picture")
            try await stage.read("Your changes are saved")
            let wide = try await browser.execute("return document.querySelector('.stub .logo img').naturalWidth")
            #expect((wide.number ?? 0) > 0)
            #expect(try await browser.find(".stub .logo img").attribute("src")?.hasPrefix("/logos/") == true)
            try await stage.expectNoComplaints()
        }
    }

    // UI-39: shown once, and never again.
    @Test func `the secret of a web application is shown once`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.open("/apps/new?type=web")
            try await stage.fill("name", "Photo Prints")
            try await stage.fill("redirect_uris", "https://prints.example.com/callback")
            try await stage.tick("scope", "openid")
            try await stage.press("Register an application")
            try await stage.read("Copy it now: it is shown this once and kept nowhere.")
            let secret = try await browser.findAll("[data-copy] code").last?.text ?? ""
            #expect(secret.count >= 43)

            try await stage.press("Photo Prints")
            try await stage.press("Secrets")
            try await stage.read("Secrets that count")
            #expect(try await browser.source.contains(secret) == false)
            try await stage.press("Make a secret")
            try await stage.read("There are two.")
            #expect(try await browser.source.contains(secret) == false)
            try await stage.press("Remove")
            try await stage.read("The secret is gone.")
        }
    }

    // UI-39: nobody sees, changes or deletes what is somebody else's, and the page does not say that it exists.
    @Test func `the application of somebody else is nowhere to be found`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            #expect(try await browser.text.contains("Lightbox") == false)
            try await stage.open("/apps/app_that-never-existed")
            try await stage.arrive(at: "There is nothing here")
            let nothing = try await words(browser)
            for page in ["", "/edit", "/connect", "/logo", "/secrets", "/policy", "/association", "/delete"] {
                try await stage.open("/apps/\(stage.lightbox)\(page)")
                try await stage.arrive(at: "There is nothing here")
                #expect(try await words(browser) == nothing, "\(page)")
            }
            try await stage.open("/admin")
            try await stage.arrive(at: "There is nothing here")
        }
    }

    @Test func `the keyboard alone registers an application`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await browser.press(Key.tab)
            #expect(try await browser.focused().accessibleName == "Skip to the content")
            try await browser.tab(to: "Register an application")
            try await browser.press(Key.enter)
            try await stage.arrive(at: "What is it?")
            try await browser.tab(to: "Native / mobile")
            try await browser.press(Key.enter)
            try await stage.arrive(at: "Register an application")
            try await browser.tab(to: "Name")
            try await browser.write("By keyboard")
            try await browser.tab(to: "Redirect URIs")
            try await browser.write("http://127.0.0.1/a\nhttp://[::1]/a")
            try await browser.tab(to: "may ask for it: openid")
            try await browser.press(Key.space)
            try await browser.tab(to: "Register an application")
            try await browser.press(Key.enter)
            try await stage.arrive(at: "By keyboard")
            #expect(try await browser.text.contains("http://[::1]/a"))
        }
    }

    private func states(_ browser: Browser) async throws -> [String] {
        try await browser.execute("return [...document.querySelectorAll('.verdicts > li')].map(e => e.className)")
            .array?.compactMap(\.string) ?? []
    }

    /// The page without the number by which its request is found in the log.
    private func words(_ browser: Browser) async throws -> String {
        try await browser.text.replacing(/[0-9a-f]{32}/, with: "")
    }
}

extension Stage {
    /// The path of the page that is open, without its query.
    func path() async throws -> String {
        String(try await browser.currentURL.dropFirst(site.origin.count).prefix { $0 != "?" })
    }
}
