import TestSupport
import Testing

/// Checks of every page of the real server in every look: audit, axe-core, 200 % zoom, keyboard focus, and
/// screenshots.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct EveryPageTests {
    // The pages load nothing from other origins, and no page violates its own security policy.
    @Test func `the pages of a sign-in are accessible`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.walk(.usualWay) { judge in
                try await stage.ask()
                try await judge(.signIn)
                try await stage.fill("username", "alice")
                try await stage.fill("password", "a wrong one")
                try await stage.send("button.primary")
                _ = try await browser.waitForElement("[role=alert]")
                try await judge(.signInAgain)
                try await stage.signIn(as: .alice)
                _ = try await browser.waitForElement("[value=allow]")
                try await judge(.consent)

                // A request for more permissions marks the new ones.
                try await stage.ask(scope: "openid photos.read")
                try await stage.answer("allow")
                try await stage.ask()
                _ = try await browser.waitForElement(".permissions li:has(.new) input[type=checkbox]")
                try await judge(.consentAgain)

                // The next sign-in page shows who signed in here before.
                _ = try await browser.developerTools(
                    "Network.deleteCookies", ["name": "counterfoil-session", "url": .string(stage.site.issuer)])
                try await stage.ask()
                _ = try await browser.waitForElement(".who")
                #expect(try await browser.find("input[name=username]").property("value") == "alice")
                try await browser.waitForFocus(at: "password")
                try await judge(.signInEarlier)

                try await browser.introduce(as: WebViews.android)
                try await stage.ask()
                _ = try await browser.waitForElement("#address")
                try await judge(.webView)
                try await browser.introduce(as: "")

                try await browser.navigate(to: stage.request(redirectURI: Stage.redirectURI + "/elsewhere"))
                _ = try await browser.waitForElement(".logo.problem")
                try await judge(.problem)
                try await browser.find(".developer summary").click()
                _ = try await browser.waitForElement(".developer[open] p")
                try await judge(.problemForDeveloper)
            }
        }
    }

    @Test func `the rare pages of a sign-in are accessible`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            let frames = try await stage.site.registerClient(
                "Picture Frames", redirectURIs: ["com.example.frames:/done", "https://frames.example.com/done"],
                options: ["--publisher", "Frames & Sons", "--no-vouched-for"])
            let desk = try await stage.site.registerClient(
                "Desk Frame", redirectURIs: ["http://localhost/callback"],
                options: ["--publisher", "Lightbox AS", "--web-views", "warn"])
            let own = try await stage.site.registerClient(
                "Darkroom", redirectURIs: ["com.example.darkroom:/done"], options: ["--first-party"])
            let scope = "openid photos.read"
            try await stage.walk(.otherWays) { judge in
                // The publisher of this client is not verified.
                try await stage.ask(frames, scope: scope, redirectURI: "com.example.frames:/done")
                try await stage.signIn(as: .alice)
                let allow = try await browser.waitForElement("[value=allow]")
                _ = try await browser.find("[role=note]")
                try await judge(.consentUnverified)
                try await allow.click()
                _ = try await browser.waitForElement("a[href^='com.example.frames:/done?code=']")
                try await judge(.proceed)

                // RFC 9700 §4.11.2: an invalid request is not redirected automatically.
                let request = stage.request(frames, scope: scope, redirectURI: "https://frames.example.com/done")
                try await browser.navigate(to: request.replacing("&code_challenge=", with: "&no_challenge="))
                _ = try await browser.waitForElement("a[href^='https://frames.example.com/done?']")
                try await judge(.goOnChoice)
                #expect(try await browser.currentURL.hasPrefix(stage.site.issuer))

                // RFC 8252 §8.6: a first-party client needs confirmation if any program can receive its
                // redirect URI.
                try await stage.ask(own, scope: "openid", redirectURI: "com.example.darkroom:/done")
                _ = try await browser.waitForElement("[value=allow]")
                try await judge(.continue)

                // RFC 8252 §8.3: the name localhost does not have to resolve to this device.
                try await stage.ask(desk, scope: scope, redirectURI: "http://localhost:49152/callback")
                _ = try await browser.waitForElement("[value=allow]")
                _ = try await browser.find("[role=note]")
                try await judge(.consentLocalhost)

                // OAuth 2.0 Form Post Response Mode §2: without scripts the form has a button.
                try await browser.allowScripts(false)
                try await browser.navigate(
                    to: stage.request(desk, scope: scope, redirectURI: "http://localhost:49152/callback")
                        + "&response_mode=form_post")
                _ = try await browser.waitForElement("[value=allow]")
                _ = try await browser.execute("document.querySelector('[value=allow]').click()")
                _ = try await browser.waitForElement("form[data-goes-on] button")
                try await browser.allowScripts(true)
                try await judge(.goOnPosted)

                // OpenID Connect RP-Initiated Logout §2: without a hint the server asks the user.
                try await stage.open("/oauth2/logout")
                try await judge(.signOut)
                // The browser's open dialog for the app's scheme blocks mouse events, so a script clicks
                // the button.
                _ = try await browser.execute("document.querySelector('[value=sign-out]').click()")
                _ = try await browser.waitForElement("a[href$='/sign-in']")
                try await judge(.signedOut)

                // RFC 8252 §8.12, with a client whose policy only warns.
                _ = try await browser.developerTools("Network.clearBrowserCookies")
                try await browser.introduce(as: WebViews.android)
                try await stage.ask(desk, scope: scope, redirectURI: "http://localhost:49152/callback")
                _ = try await browser.waitForElement("input[type=password]")
                _ = try await browser.find("[role=note] a[href^='intent://localhost:']")
                let address = try await browser.find("[role=note] textarea").property("value")?.string ?? ""
                #expect(address.hasPrefix(stage.site.issuer + "/oauth2/authorize?"))
                try await judge(.signInWebView)
                try await browser.introduce(as: "")

                // RFC 8252 §7.2: the page does not show a response that reached the browser instead of the
                // app.
                try await stage.open("/callback/\(frames)?code=strayed-code&state=a-state")
                #expect(try await browser.find("h1").text.isEmpty == false)
                #expect(try await browser.source.contains("strayed-code") == false)
                try await judge(.appLink)
            }
        }
    }

    // The code and the place are compared before the permissions.
    @Test func `the pages for a device are accessible`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            let television = try await stage.site.registerClient(
                "Television", options: ["--publisher", "Screens & Sons", "--no-vouched-for"])
            try await stage.walk(.device) { judge in
                try await stage.open("/device")
                _ = try await browser.waitForElement("#user_code")
                try await judge(.deviceCode)
                try await stage.fill("user_code", "ЩДЖБ-МЖХТ")
                try await stage.send("button.primary")
                _ = try await browser.waitForElement("[role=alert]")
                try await judge(.deviceCodeAgain)

                let device = try await stage.waitingDevice()
                try await browser.navigate(to: device.complete)
                #expect(try await browser.waitForElement("#user_code").property("value")?.string == device.userCode)
                try await judge(.deviceCodeFilled)
                try await stage.send("button.primary")
                try await stage.signIn(as: .alice)
                let allow = try await browser.waitForElement("[value=allow]")
                #expect(try await browser.find("p.big").text == device.userCode)
                try await judge(.deviceConsent)
                try await allow.click()
                try await stage.arrive(at: "Your device is connected")
                try await judge(.deviceApproved)

                let denied = try await stage.waitingDevice()
                try await stage.open("/device")
                try await stage.fill("user_code", denied.userCode.lowercased())
                try await stage.send("button.primary")
                try await browser.waitForElement("[value=deny]").click()
                try await stage.arrive(at: "Your device is not connected")
                try await judge(.deviceDenied)

                // The answer in this window comes after that in another one.
                let late = try await stage.waitingDevice()
                try await stage.open("/device")
                try await stage.fill("user_code", late.userCode)
                try await stage.send("button.primary")
                let deny = try await browser.waitForElement("[value=deny]")
                _ = try await browser.execute("document.querySelector('[value=deny]').formTarget = '_blank'")
                try await deny.click()
                try await stage.waitForDenial(of: late)
                // No picture can be taken of a window behind another one.
                _ = try await browser.developerTools("Page.bringToFront")
                try await browser.find("[value=allow]").click()
                try await stage.arrive(at: "This code is no longer valid")
                try await judge(.deviceOver)

                // The publisher of this client is not verified.
                let unverified = try await stage.waitingDevice(television, scope: "openid photos.read")
                try await browser.navigate(to: unverified.complete)
                _ = try await browser.waitForElement("#user_code")
                try await stage.send("button.primary")
                _ = try await browser.waitForElement("[value=allow]")
                try await stage.read("has not verified who makes Television")
                try await judge(.deviceConsentUnverified)

                // RFC 8628 §5.1: five wrong codes of a user are allowed, here of one who connects no device.
                _ = try await browser.developerTools("Network.clearBrowserCookies")
                try await stage.open("/device")
                try await stage.fill("user_code", "BCDF-GHJK")
                try await stage.send("button.primary")
                try await stage.signIn(as: .grace)
                _ = try await browser.waitForElement("[role=alert]")
                for _ in 0..<5 {
                    try await stage.fill("user_code", "BCDF-GHJK")
                    try await stage.send("button.primary")
                }
                try await stage.read("Try again in")
                try await judge(.deviceCodeTooMany)
            }
        }
    }

    @Test func `the pages of the first start are accessible`() async throws {
        try await Stage.enter { other in
            try await Site.make { site in
                let server = try await site.start()
                try await server.whileRunning {
                    let link = try await server.said("a link that makes an administrator") {
                        $0.errors.firstMatch(of: /http\S+\/setup\?token=\S+/).map { String($0.output) }
                    }
                    let stage = Stage(site: site, browser: other.browser, lightbox: "")
                    try await stage.walk(.firstStart) { judge in
                        try await stage.browser.navigate(to: link)
                        _ = try await stage.browser.waitForElement("input[name=password]")
                        try await judge(.setup)
                        try await stage.fill("username", "grace")
                        try await stage.fill("email", "grace@example.com")
                        try await stage.fill("password", "password")
                        try await stage.send("button.primary")
                        _ = try await stage.browser.waitForElement("[role=alert]")
                        #expect(try await stage.browser.find("#email").property("value") == "grace@example.com")
                        #expect(try await stage.browser.find("[aria-invalid]").attribute("name") == "password")
                        try await judge(.setupAgain)
                        try await stage.fill("password", Account.grace.password)
                        try await stage.send("button.primary")
                        try await stage.browser.waitFor("the end of the form") {
                            try await stage.browser.findAll("form").isEmpty
                        }
                        try await judge(.setupDone)
                    }
                    try await stage.follow("/sign-in?to=%2Fadmin")
                    try await stage.signIn(as: .grace)
                    _ = try await stage.browser.waitForURL(startingWith: site.issuer + "/admin")
                }
            }
        }
    }

    // A check that finds no defects must not pass as a check of good pages.
    @Test(.axe) func `axe-core finds the faults of a bad page`() async throws {
        try await Stage.enter { stage in
            try await stage.ask()
            #expect(try await Axe.violations(in: stage.browser) == [])
            _ = try await stage.browser.execute(
                "document.querySelector('label').remove(); document.querySelector('.soft').style.color = '#aaa';")
            let found = try await Axe.violations(in: stage.browser).joined(separator: "\n")
            #expect(found.contains("label: #username"))
            #expect(found.contains("color-contrast: "))
        }
    }
}

/// User-Agent values of web views.
enum WebViews {
    static let android =
        "Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 "
        + "Chrome/140.0.0.0 Mobile Safari/537.36"
}

extension Stage {
    /// Expects that the pages loaded only resources of the server; redirects to clients are allowed.
    func expectNothingForeign() async throws {
        let requests = try await browser.requestedURLs()
        let own = [site.origin, "http://127.0.0.1:49152", "com.example.", "data:", "chrome", "about:"]
        #expect(!requests.isEmpty)
        #expect(requests.filter { request in !own.contains { request.hasPrefix($0) } } == [])
    }
}
