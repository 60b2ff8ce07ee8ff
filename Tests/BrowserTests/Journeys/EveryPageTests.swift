import Testing

/// Every page of the real server in every look: our audit, axe-core, twice the size, the keyboard's focus, and pictures.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct EveryPageTests {
    // R300, R328: nothing foreign is loaded, and no page breaks its own policy.
    @Test func `the pages between an application and a person are good for everybody`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.ask()
            try await stage.judge("sign-in")
            try await stage.fill("username", "alice")
            try await stage.fill("password", "a wrong one")
            try await browser.find("button.primary").click()
            _ = try await browser.waitForElement("[role=alert]")
            try await stage.judge("sign-in-again")
            try await stage.signIn(as: .alice)
            try await stage.arrive(at: "Lightbox would like")
            try await stage.judge("consent")
            try await stage.answer("allow")
            try await stage.ask()
            try await stage.read("You allowed this on")
            try await stage.judge("consent-again")

            // Whoever signs in next sees who was here.
            _ = try await browser.developerTools(
                "Network.deleteCookies", ["name": "counterfoil-session", "url": .string(stage.site.issuer)])
            try await stage.ask()
            try await stage.read("Signed in here before")
            try await stage.judge("sign-in-earlier")

            try await browser.introduce(as: WebViews.android)
            try await stage.ask()
            try await stage.arrive(at: "Open this page in your browser")
            try await stage.judge("web-view")
            try await browser.introduce(as: "")

            try await browser.navigate(to: stage.request().replacing("49152/callback", with: "49152/elsewhere"))
            _ = try await browser.waitForElement(".logo.problem")
            try await stage.judge("problem")
            try await stage.expectNoComplaints()
            try await stage.expectNothingForeign()
        }
    }

    @Test func `the pages of a developer are good for everybody`() async throws {
        try await Stage.enter { stage in
            try await stage.open("/apps", as: .alice)
            try await stage.judge("apps-none")
            try await stage.open("/apps/new")
            try await stage.judge("app-types")
            try await stage.press("Native / mobile")
            try await stage.arrive(at: "Register an application")
            try await stage.judge("app-new")

            try await stage.fill("name", "Picture Frames")
            try await stage.fill(
                "redirect_uris", "http://localhost/callback\nmyapp://callback\ncom.example.frames:/done")
            try await stage.tick("scope", "openid")
            try await stage.press("Register an application")
            _ = try await stage.browser.waitForElement("#problems")
            try await stage.judge("app-new-problems")
            try await stage.fill("publisher", "Frames & Sons")
            try await stage.fill(
                "redirect_uris",
                "http://127.0.0.1/callback\ncom.example.frames:/done\nhttps://frames.example.com/callback")
            try await stage.fill("apple_apps", "ABCDE12345.com.example.frames")
            try await stage.tick("scope", "photos.read")
            try await stage.fill("consent_text", "Frames hangs your photos on the **wall**.")
            try await stage.press("Register an application")
            try await stage.arrive(at: "Picture Frames")
            let path = try await stage.path()
            try await stage.fill("uri", "http://127.0.0.1:49152/callback/")
            try await stage.press("Try it")
            try await stage.read("is not registered for this application")
            try await stage.press("What will match")
            try await stage.read("The slash at the end differs.")
            try await stage.judge("app")
            for page in ["edit", "connect", "logo", "association", "delete"] {
                try await stage.open("\(path)/\(page)")
                try await stage.judge("app-\(page)")
            }

            try await stage.open("/apps/new?type=web")
            try await stage.fill("name", "Photo Prints")
            try await stage.fill("redirect_uris", "https://prints.example.com/callback")
            try await stage.tick("scope", "openid")
            try await stage.press("Register an application")
            try await stage.arrive(at: "Secrets")
            try await stage.judge("app-secrets")
            try await stage.open("/apps")
            try await stage.judge("apps")
            try await stage.expectNoComplaints()
            try await stage.expectNothingForeign()
        }
    }

    @Test func `the pages of an administrator are good for everybody`() async throws {
        try await Stage.enter { stage in
            try await stage.open("/admin", as: .grace)
            try await stage.judge("admin")
            try await stage.open("/apps/\(stage.lightbox)/policy")
            try await stage.judge("app-policy")
            try await stage.tick("pkce", "s256-or-plain")
            try await stage.press("Save")
            try await stage.read("in the clear (plain)")
            try await stage.judge("app-danger")
            try await stage.open("/admin/branding")
            try await stage.judge("admin-branding")
            try await stage.open("/apps/app_nothing")
            try await stage.arrive(at: "There is nothing here")
            try await stage.judge("not-found")
            try await stage.expectNoComplaints()
            try await stage.expectNothingForeign()
        }
    }

    @Test func `the pages of an account are good for everybody`() async throws {
        try await Stage.enter { stage in
            try await stage.open("/account", as: .grace)
            try await stage.judge("account-none")
            try await stage.ask()
            try await stage.answer("allow")
            try await stage.open("/account")
            try await stage.judge("account")
            for page in ["apps/\(stage.lightbox)", "sessions", "password"] {
                try await stage.open("/account/\(page)")
                try await stage.judge("account-\(page.prefix { $0 != "/" })")
            }
            try await stage.fill("current_password", "not this one")
            try await stage.fill("new_password", "a new password of mine")
            try await stage.press("Change password")
            _ = try await stage.browser.waitForElement("#problems")
            try await stage.judge("account-password-problems")
            try await stage.expectNoComplaints()
            try await stage.expectNothingForeign()
        }
    }

    // What axe-core cannot see must not count as good.
    @Test(.axe) func `axe-core finds what is wrong with a bad page`() async throws {
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

/// What web-views call themselves.
enum WebViews {
    static let android =
        "Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 "
        + "Chrome/140.0.0.0 Mobile Safari/537.36"
}

extension Stage {
    /// Expects that the pages loaded only what comes from the server itself.
    func expectNothingForeign() async throws {
        let requests = try await browser.requestedURLs()
        let own = [site.origin, "http://127.0.0.1:49152", "data:", "chrome", "about:"]
        #expect(!requests.isEmpty)
        #expect(requests.filter { request in !own.contains { request.hasPrefix($0) } } == [])
    }
}
