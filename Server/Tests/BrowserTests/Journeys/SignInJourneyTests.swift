import TestSupport
import Testing

/// The complete sign-in, with the released programs and a real browser.
@Suite(.realBrowser, .serialized, .timeLimit(.minutes(15)))
struct SignInJourneyTests {
    // From the client through the browser and back.
    @Test(arguments: Viewport.all)
    func `a user signs in, allows, and returns to the app`(look: Viewport) async throws {
        try await Journey.run { journey in
            let browser = journey.browser
            try await look.apply(to: browser)
            let device = try Device(in: journey.site.folder)
            let login = try device.beginLogin(journey.site, clientID: journey.clientID)
            try await login.whileRunning {
                _ = try await browser.requestedURLs()
                try await browser.navigate(to: try await device.openedAddress())
                #expect(try await PageAudit.findings(in: browser) == [])
                try await journey.signIn()

                try await journey.waitForHeading("Lightbox wants to access your Example Photos account")
                #expect(try await PageAudit.findings(in: browser) == [])
                try await journey.press("allow")

                try await journey.waitForHeading("You can close this tab")
                try await Screens.keep("closing-\(look.suffix)", of: browser)
                #expect(try await login.ended().status == 0)
            }
            #expect(try await device.counterfoil("token").status == 0)

            #expect(try await journey.complaints() == [])
            let requests = try await browser.requestedURLs()
            #expect(requests.allSatisfy { $0.hasPrefix("http://127.0.0.1:") || $0.hasPrefix("data:") }, "\(requests)")
        }
    }

    // The command line waits for the code, which the user types in a browser.
    @Test func `a user signs in to the command line on another device`() async throws {
        try await Journey.run { journey in
            let browser = journey.browser
            let device = try Device(in: journey.site.folder)
            let login = try device.beginLogin(journey.site, clientID: journey.clientID, "--device", "--qr", "never")
            try await login.whileRunning {
                let code = try await login.said("a user code") {
                    $0.errors.firstMatch(of: /[B-Z]{4}-[B-Z]{4}/).map { String($0.output) }
                }
                try await browser.navigate(to: journey.site.issuer + "/device")
                try await browser.waitForElement("#user_code").type(code.lowercased())
                try await browser.find("button.primary").click()
                try await journey.signIn()
                try await journey.press("allow")
                try await journey.waitForHeading("Your device is connected")
                #expect(try await login.ended().status == 0)
            }
            #expect(try await device.counterfoil("token").status == 0)
        }
    }

    @Test func `a wrong password can be corrected`() async throws {
        try await Journey.run { journey in
            let browser = journey.browser
            try await browser.navigate(to: journey.request(redirectURI: "http://127.0.0.1:49152/callback"))
            try await journey.signIn(password: "not her password")
            _ = try await browser.waitForElement("[role=alert]")
            #expect(try await browser.title.hasPrefix("Error: Sign in"))
            #expect(try await browser.find("input[name=username]").property("value") == "alice")
            #expect(try await browser.find("input[name=password]").property("value") == "")
            try await browser.waitForFocus(at: "password")
            #expect(try await PageAudit.findings(in: browser) == [])
            try await journey.signIn()
            _ = try await browser.waitForElement("button[value=allow]")
            #expect(try await browser.text.contains("Alice Andersen"))
        }
    }

    @Test func `another user signs in in the same browser`() async throws {
        try await Journey.run { journey in
            try await journey.site.add(.bob)
            let browser = journey.browser
            try await browser.navigate(to: journey.request(redirectURI: "http://127.0.0.1:49152/callback"))
            try await journey.signIn()
            try await journey.press("switch")
            try await journey.signIn(name: Account.bob.name, password: Account.bob.password)
            _ = try await browser.waitForElement("button[value=allow]")
            let text = try await browser.text
            #expect(text.contains("Bob Berg"))
            #expect(!text.contains("Alice"))
        }
    }

    @Test func `a user who cancels returns to the app without a code`() async throws {
        try await Journey.run { journey in
            let device = try Device(in: journey.site.folder)
            let login = try device.beginLogin(journey.site, clientID: journey.clientID)
            try await login.whileRunning {
                try await journey.browser.navigate(to: try await device.openedAddress())
                try await journey.signIn()
                try await journey.press("deny")
                try await journey.waitForHeading("Access was denied")
                let ended = try await login.ended()
                #expect(ended.status == 7)
                #expect(ended.output.isEmpty)
            }
            #expect(try await journey.complaints() == [])
        }
    }

    @Test func `going back to an old page gives no second code`() async throws {
        try await Journey.run { journey in
            let browser = journey.browser
            let device = try Device(in: journey.site.folder)
            let login = try device.beginLogin(journey.site, clientID: journey.clientID, "--par", "never")
            try await login.whileRunning {
                try await browser.navigate(to: try await device.openedAddress())
                try await journey.signIn()
                let consent = try await browser.waitForElement("button[value=allow]")
                let form = try await browser.execute(
                    "return new URLSearchParams(new FormData(document.querySelector('form:has(.permissions)'))).toString()"
                )
                try await consent.click()
                try await journey.waitForHeading("You can close this tab")
                #expect(try await login.ended().status == 0)

                // The same form is sent again, as a double click or the back button does.
                try await browser.navigate(to: journey.request(redirectURI: "http://127.0.0.1:49152/callback"))
                _ = try await browser.waitForElement("button[value=allow]")
                let script = """
                    const form = document.querySelector('form:has(.permissions)');
                    for (const [name, value] of new URLSearchParams(arguments[0]))
                        for (const field of form.querySelectorAll(`[name="${name}"]`)) field.value = value;
                    form.querySelector('[value=allow]').click();
                    """
                _ = try await browser.execute(script, [form])
                try await journey.waitForHeading("You have already answered this")
            }
        }
    }
}
