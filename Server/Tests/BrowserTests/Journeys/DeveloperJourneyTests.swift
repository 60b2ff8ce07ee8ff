import Foundation
import TestSupport
import Testing

/// The My Apps pages in a browser.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct DeveloperJourneyTests {
    // The developer chooses the type in the console, and a native client never gets a secret.
    @Test func `a developer registers a native app, tries it, changes it and deletes it`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.follow("/apps/new")
            #expect(try await browser.find("a[href='/apps/new?type=native']").text.contains("Native / mobile"))
            try await stage.follow("/apps/new?type=native")
            try await stage.read("has no secret")

            // The verdicts appear while the user types, before the form is sent.
            try await stage.fill("name", "Picture Frames")
            try await stage.fill("redirect_uris", "http://127.0.0.1/callback\nmyapp:/done\nhttp://localhost/callback")
            try await browser.waitFor("three verdicts") {
                try await browser.findAll("#redirect_uris-verdicts > li").count == 3
            }
            #expect(try await states(browser) == ["accepted", "refused", "warned"])
            #expect(
                try await browser.find("#redirect_uris-verdicts > li.refused").text.contains(
                    "com.example.app:/callback"))
            #expect(try await browser.find("#said").property("textContent")?.string?.contains("Refused") == true)

            // An error is shown at its field, the input is kept, and the summary has the focus.
            try await stage.send()
            _ = try await browser.waitForElement("#problems")
            #expect(try await browser.title.hasPrefix("Error: "))
            try await browser.waitFor("the focus at the summary") {
                try await browser.focused().attribute("id") == "problems"
            }
            #expect(try await browser.find("#redirect_uris").attribute("aria-invalid") == "true")
            #expect(try await browser.find("#name").property("value") == "Picture Frames")
            try await browser.find("#problems a").click()
            #expect(try await browser.focused().attribute("id") == "redirect_uris")

            try await stage.fill("redirect_uris", "http://127.0.0.1/callback")
            try await stage.send()
            try await stage.arrive(at: "Picture Frames")
            try await stage.seeDone()
            #expect(try await browser.text.localizedCaseInsensitiveContains("secret") == false)
            let path = try await stage.path()

            #expect(try await stage.isMatch("http://127.0.0.1:49152/callback"))
            #expect(try await stage.isMatch("http://localhost:49152/callback") == false)

            try await stage.follow(path + "/edit")
            try await stage.unfold()
            try await stage.fill("publisher", "Frames & Sons")
            try await stage.send()
            try await stage.seeDone()
            #expect(try await browser.find(".stub").text.contains("Frames & Sons"))

            try await stage.follow(path + "/connect")
            let command = try await browser.waitForElement("pre code").text
            #expect(command.contains("counterfoil login"))
            let clientID = String(path.dropFirst("/apps/".count))
            #expect(command.contains(stage.site.issuer) && command.contains(clientID))
            try await browser.find(".configuration summary").click()
            let code = try await browser.waitForElement(".configuration[open] pre code").text
            #expect(code.contains("import CounterfoilClient"))
            #expect(code.contains("issuer: \"\(stage.site.issuer)\"") && code.contains(clientID))
            // A native client has no page for secrets.
            try await stage.open(path + "/secrets")
            try await stage.arrive(at: "Page not found")

            try await stage.open(path)
            try await stage.follow(path + "/delete")
            try await stage.send("main form button.destructive")
            try await stage.seeDone()
            try await stage.open(path)
            try await stage.arrive(at: "Page not found")
            try await stage.expectNoComplaints()
        }
    }

    // My Apps lists a developer's own applications with their client ids in a column.
    @Test func `My Apps shows each client identifier in a column, with a button that copies it`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.open("/apps/new?type=device")
            try await stage.fill("name", "Frame on the wall")
            try await stage.send()
            try await stage.arrive(at: "Frame on the wall")
            let id = try await stage.path().dropFirst("/apps/".count)

            try await stage.open("/apps")
            var columns: [String] = []
            for column in try await browser.findAll("thead th") { columns.append(try await column.text) }
            #expect(columns == ["App", "Type", "Users", "Last used", "Client ID"])
            let row = "tbody tr:has(a[href='/apps/\(id)'])"
            #expect(try await browser.find("\(row) td:nth-child(5) code").text == id)

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

    @Test func `an uploaded logo replaces the initials`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.open("/apps/new?type=native")
            try await stage.fill("name", "Sunrise")
            try await stage.fill("redirect_uris", "com.example.sunrise:/done")
            try await stage.send()
            try await stage.arrive(at: "Sunrise")
            #expect(try await browser.find(".stub .logo").text == "Su")

            let file = stage.site.folder.url.appendingPathComponent("sunrise.png")
            try Data("no picture at all".utf8).write(to: file)
            try await stage.follow(try await stage.path() + "/logo")
            try await browser.waitForElement("input[name=logo]").choose(file)
            try await stage.send("button[value=replace]")
            _ = try await browser.waitForElement("#problems")
            try Drawing.sunrise.png().write(to: file)
            try await browser.find("input[name=logo]").choose(file)
            try await stage.send("button[value=replace]")
            try await stage.seeDone()
            let wide = try await browser.execute("return document.querySelector('.stub .logo img').naturalWidth")
            #expect((wide.number ?? 0) > 0)
            #expect(try await browser.find(".stub .logo img").attribute("src")?.hasPrefix("/logos/") == true)
            try await stage.expectNoComplaints()
        }
    }

    // The secret is shown once and never again.
    @Test func `the secret of a web app is shown once`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await stage.open("/apps/new?type=web")
            try await stage.fill("name", "Photo Prints")
            try await stage.fill("redirect_uris", "https://prints.example.com/callback")
            try await stage.send()
            let secret = try await stage.newSecret()
            #expect(secret.count >= 43)

            let path = try await stage.secretsPath()
            try await stage.open(path)
            #expect(try await browser.findAll(Stage.secretRows).count == 1)
            #expect(try await browser.source.contains(secret) == false)
            try await stage.send("button[value=add]")
            let second = try await stage.newSecret()
            #expect(second.count >= 43 && second != secret)
            #expect(try await browser.findAll(Stage.secretRows).count == 2)
            #expect(try await browser.findAll("button[value=add]").isEmpty)
            #expect(try await browser.source.contains(secret) == false)
            try await stage.open(path)
            #expect(try await browser.source.contains(second) == false)
            // One press removes nothing.
            #expect(try await stage.sees("button[value=remove]") == false)
            try await stage.removeFirstSecret()
            #expect(try await browser.findAll(Stage.secretRows).count == 1)
            try await stage.expectNoComplaints()
        }
    }

    // A client of another user cannot be seen, changed or deleted, and the page does not reveal that
    // it exists.
    @Test func `the app of another developer is not found`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            #expect(try await browser.text.contains("Lightbox") == false)
            try await stage.open("/apps/app_that-never-existed")
            try await stage.arrive(at: "Page not found")
            let nothing = try await words(browser)
            for page in ["", "/edit", "/connect", "/logo", "/secrets", "/policy", "/association", "/delete"] {
                try await stage.open("/apps/\(stage.lightbox)\(page)")
                try await stage.arrive(at: "Page not found")
                let words = try await words(browser)
                #expect(words == nothing, "\(page)")
            }
            try await stage.open("/admin")
            try await stage.arrive(at: "Page not found")
        }
    }

    @Test func `a developer registers an app with the keyboard alone`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            try await browser.press(Key.tab)
            #expect(try await browser.focused().accessibleName == "Skip to the content")
            try await browser.tab { try await $0.attribute("href") == "/apps/new" }
            try await browser.press(Key.enter)
            _ = try await browser.waitForElement("a[href='/apps/new?type=native']")
            try await browser.tab(to: "Native / mobile")
            try await browser.press(Key.enter)
            _ = try await browser.waitForElement("#redirect_uris")
            try await browser.tab(to: "Name")
            try await browser.write("By keyboard")
            try await browser.tab(to: "Redirect URIs")
            try await browser.write("http://127.0.0.1/a\nhttp://[::1]/a")
            try await browser.tab {
                [try await $0.attribute("name"), try await $0.attribute("value")] == ["scope", "openid"]
            }
            try await browser.press(Key.space)
            try await browser.tab { try await $0.attribute("class") == "primary" }
            try await browser.press(Key.enter)
            try await stage.arrive(at: "By keyboard")
            #expect(try await browser.text.contains("http://[::1]/a"))
        }
    }

    private func states(_ browser: Browser) async throws -> [String] {
        try await browser.execute(
            "return [...document.querySelectorAll('#redirect_uris-verdicts > li')].map(e => e.className)"
        )
        .array?.compactMap(\.string) ?? []
    }

    /// Returns the text of the page without the reference to the log entry of its request.
    private func words(_ browser: Browser) async throws -> String {
        try await browser.text.replacing(/reference [0-9a-f]+/, with: "")
    }
}

extension Stage {
    /// The selector of the rows for the secrets of a client.
    static let secretRows = "main li:has(button[value=remove])"

    /// Returns the secret that the page shows once.
    func newSecret() async throws -> String {
        _ = try await browser.waitForElement("section[aria-labelledby=new]")
        return try await browser.findAll("section[aria-labelledby=new] [data-copy] code").last?.text ?? ""
    }

    /// Returns the path of the page of secrets, which is open after a secret was created.
    func secretsPath() async throws -> String {
        try await browser.find("form:has(button[value=remove])").attribute("action") ?? ""
    }

    /// Removes the first secret in the list: one press opens the question, and one confirms it.
    func removeFirstSecret() async throws {
        let button = "\(Self.secretRows) button[value=remove]"
        try await browser.find("\(Self.secretRows) summary").click()
        try await browser.waitFor("the question") { try await sees(button) }
        try await send(button)
        try await seeDone()
    }

    /// Returns whether the open page of a client says that a redirect URI matches.
    func isMatch(_ uri: String) async throws -> Bool {
        try await fill("uri", uri)
        try await send("form:has([name=uri]) button")
        let verdict = "form:has([name=uri]) .verdicts > li"
        let matches = try await browser.waitForElement(verdict).attribute("class") == "accepted"
        #expect(try await browser.find("\(verdict) code").text == uri)
        return matches
    }

    /// Returns the path of the open page, without its query.
    func path() async throws -> String {
        String(try await browser.currentURL.dropFirst(site.origin.count).prefix { $0 != "?" })
    }
}
