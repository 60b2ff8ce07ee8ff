import TestSupport
import Testing

/// Checks of every page of the real server in every look: audit, axe-core, 200 % zoom, keyboard focus, and
/// screenshots.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct EveryPageTests {
    // R300: the pages load nothing from other origins, and no page violates its own security policy.
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
                _ = try await browser.find("[role=note] a[href^='intent://127.0.0.1:']")
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
                    try await stage.follow("/sign-in")
                    try await stage.signIn(as: .grace)
                    _ = try await stage.browser.waitForURL(startingWith: site.issuer + "/account")
                }
            }
        }
    }

    @Test func `the sign-in pages of the console are accessible`() async throws {
        try await Stage.enter { stage in
            try await stage.walk(.door) { judge in
                try await stage.open("/account")
                _ = try await stage.browser.waitForElement("input[name=username]")
                try await judge(.consoleSignIn)
                try await stage.browser.introduce(as: WebViews.android)
                try await stage.open("/account")
                try await stage.browser.waitForElement("[role=note] summary").click()
                #expect(try await stage.sees("[role=note] textarea"))
                try await judge(.consoleSignInWebView)
                try await stage.browser.introduce(as: "")

                // A user whose session ends while they type learns that nothing was saved.
                try await stage.open("/account/password", as: .alice)
                try await stage.fill("current_password", Account.alice.password)
                try await stage.fill("new_password", "three new words of mine")
                _ = try await stage.browser.developerTools("Network.clearBrowserCookies")
                try await stage.send()
                _ = try await stage.browser.waitForElement("[role=note]")
                try await judge(.consoleSignInAgain)
            }
        }
    }

    @Test func `the pages of a developer are accessible`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.walk(.developer) { judge in
                try await stage.open("/apps", as: .alice)
                try await judge(.applicationsNone)
                try await stage.open("/apps/new")
                try await judge(.applicationTypes)
                try await stage.follow("/apps/new?type=native")
                _ = try await browser.waitForElement("#redirect_uris")
                try await judge(.newApp)

                try await stage.fill("name", "Picture Frames")
                try await stage.fill(
                    "redirect_uris", "http://localhost/callback\nmyapp://callback\ncom.example.frames:/done")
                try await stage.send()
                _ = try await browser.waitForElement("#problems")
                try await judge(.newAppProblems)
                try await stage.fill("publisher", "Frames & Sons")
                try await stage.fill(
                    "redirect_uris",
                    "http://127.0.0.1/callback\ncom.example.frames:/done\nhttps://frames.example.com/callback")
                try await stage.fill("apple_apps", "ABCDE12345.com.example.frames")
                try await stage.tick("scope", "photos.read")
                try await stage.tick("scope", "offline_access")
                try await stage.fill("consent_text", "Frames hangs your photos on the **wall**.")
                try await stage.send()
                try await stage.arrive(at: "Picture Frames")
                let path = try await stage.path()
                try await stage.fill("uri", "http://127.0.0.1:49152/callback/")
                try await stage.send("form:has([name=uri]) button")
                _ = try await browser.waitForElement("form:has([name=uri]) .verdicts .refused")
                try await browser.find(".card summary").click()
                _ = try await browser.waitForElement(".card details[open] .refused")
                try await judge(.application)
                for (page, screen) in [
                    ("edit", Screen.editApp), ("connect", .connect), ("logo", .logo),
                    ("association", .association),
                ] {
                    try await stage.open("\(path)/\(page)")
                    if screen == .connect { try await browser.find(".configuration summary").click() }
                    try await judge(screen)
                }
                // The host does not exist, so the check reports an error with or without a network.
                try await stage.send()
                _ = try await browser.waitForElement(".verdicts > li")
                try await judge(.associationFindings)
                try await stage.open("\(path)/delete")
                try await judge(.deleteApp)

                try await stage.open("/apps/new?type=web")
                try await stage.fill("name", "Photo Prints")
                try await stage.fill("redirect_uris", "https://prints.example.com/callback")
                try await stage.send()
                _ = try await stage.newSecret()
                try await judge(.secrets)
                try await stage.open(try await stage.secretsPath())
                try await browser.find("\(Stage.secretRows) summary").click()
                try await judge(.secretRemoval)
                try await stage.open("/apps")
                try await judge(.applications)
            }
        }
    }

    @Test func `the pages of an administrator are accessible`() async throws {
        try await Stage.enter { stage in
            try await stage.walk(.administrator) { judge in
                try await stage.open("/admin", as: .grace)
                try await judge(.administration)
                try await stage.open("/apps/\(stage.lightbox)/policy")
                try await judge(.policy)
                try await stage.tick("pkce", "s256-or-plain")
                try await stage.send()
                _ = try await stage.browser.waitForElement(".alert[role=note]")
                try await judge(.danger)
                try await stage.open("/admin/branding")
                try await judge(.branding)
                try await stage.open("/admin/audit?kind=sign-in")
                try await judge(.audit)
                try await stage.open("/admin/unregistered/policy")
                try await judge(.unregisteredPolicy)
                try await stage.tick("kinds", "both")
                try await stage.fill("allowed_hosts", "https://app.example.com/")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#problems")
                try await judge(.unregisteredPolicyProblems)
                try await stage.fill("allowed_hosts", "*.example.com")
                try await stage.send()
                try await stage.seeDone()
                let path = try await stage.storeUnregisteredApp("https://app.example.com/oauth/client.json")
                try await stage.open("/admin/unregistered")
                try await judge(.unregisteredClients)
                try await stage.follow("/admin/unregistered/clients?host=app.example.com")
                try await stage.arrive(at: "app.example.com")
                try await stage.browser.find("details summary").click()
                try await judge(.unregisteredFamily)
                try await stage.follow(path)
                try await stage.arrive(at: "Album")
                try await judge(.unregisteredClient)
                try await stage.open("/apps/app_nothing")
                _ = try await stage.browser.waitForElement(".logo.problem")
                try await judge(.notFound)
            }
        }
    }

    @Test func `the pages of an account are accessible`() async throws {
        try await Stage.enter { stage in
            try await stage.walk(.account) { judge in
                try await stage.open("/account", as: .grace)
                try await judge(.accountNone)
                try await stage.ask()
                try await stage.answer("allow")
                try await stage.open("/account")
                try await judge(.account)
                for (page, screen) in [
                    ("apps/\(stage.lightbox)", Screen.connectedApp), ("sessions", .sessions),
                    ("password", .password),
                ] {
                    try await stage.open("/account/\(page)")
                    try await judge(screen)
                }
                try await stage.fill("current_password", "not this one")
                try await stage.fill("new_password", "a new password of mine")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#problems")
                try await judge(.passwordProblems)
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
