import TestSupport
import Testing

/// The account pages in a browser.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct AccountJourneyTests {
    @Test func `a user sees the permissions of an app, revokes some of them, and disconnects it`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.ask()
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[value=allow]")
            try await stage.tick("permission.photos.write")
            try await stage.answer("allow")

            try await stage.open("/account")
            let row = try await browser.find(".list li").text
            #expect(row.contains("Lightbox AS") && row.contains("Add photos to your albums"))
            let path = "/account/apps/\(stage.lightbox)"
            try await stage.follow(path)
            try await stage.arrive(at: "Lightbox")
            try await stage.tick("permission.photos.write")
            try await stage.send("button[value=save]")
            try await stage.seeDone()
            #expect(try await browser.find(".list li").text.contains("Add photos") == false)

            try await stage.follow(path)
            try await stage.send("button[value=disconnect]")
            try await stage.seeDone()
            #expect(try await browser.findAll(".list li").isEmpty)
            try await stage.expectNoComplaints()
        }
    }

    // RFC 6265 §5.3: a browser that is closed keeps persistent cookies only.
    @Test(arguments: [true, false])
    func `a user who chose to stay signed in is signed in after the browser was closed`(stays: Bool) async throws {
        try await Stage.enter { stage in
            try await Browser.run { browser in
                let stage = stage.with(browser)
                try await stage.open("/account")
                if stays { try await stage.tick("stay_signed_in") }
                try await stage.signIn(as: .alice)
                _ = try await browser.waitForURL(startingWith: stage.site.issuer + "/account")
                try await stage.read("Alice Andersen")
            } andAfterRestart: { browser in
                let stage = stage.with(browser)
                try await stage.open("/account")
                if stays {
                    try await stage.read("Alice Andersen")
                } else {
                    #expect(try await browser.waitForElement("input[name=stay_signed_in]").property("checked") == false)
                }
            }
        }
    }

    // A session that was ended in another browser is no longer valid.
    @Test func `a user ends another session, and all other sessions with a new password`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/account", as: .alice)
            let first = try await sessionCookie(browser)
            try await browser.forget()
            try await browser.emulateScreen(width: 1280, height: 860)
            try await stage.open("/account/sessions", as: .alice)
            let here = try await sessionCookie(browser)
            // At least two sessions, one of them the current one; the session to end is the first of the
            // others.
            let signIns = try await browser.findAll("[aria-labelledby=sessions] li").count
            #expect(signIns >= 2)
            #expect(try await browser.findAll("[aria-labelledby=sessions] li .badge").count == 1)
            try await stage.send("button[value=end]")
            try await stage.seeDone()
            #expect(try await browser.findAll("[aria-labelledby=sessions] li").count == signIns - 1)
            try await use(first, in: browser)
            try await stage.open("/account")
            _ = try await browser.waitForElement("input[name=password]")

            try await use(here, in: browser)
            try await stage.open("/account/password")
            try await stage.fill("current_password", "not the one")
            try await stage.fill("new_password", "three new words of mine")
            try await stage.send()
            _ = try await browser.waitForElement("#problems a[href='#current_password']")
            #expect(try await browser.find("#current_password").property("value") == "")
            try await stage.fill("current_password", Account.alice.password)
            try await stage.fill("new_password", "three new words of mine")
            try await stage.send()
            try await stage.seeDone()
            try await stage.signOut()
            try await stage.open("/account")
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[role=alert]")
        }
    }

    private func sessionCookie(_ browser: Browser) async throws -> String {
        let cookie = try await browser.cookies.first { $0["name"] == "counterfoil-session" }
        return cookie?["value"]?.string ?? ""
    }

    private func use(_ session: String, in browser: Browser) async throws {
        let cookie: JSONValue = [
            "name": "counterfoil-session", "value": .string(session), "httpOnly": true, "sameSite": "Lax",
            "url": .string(try await browser.currentURL),
        ]
        _ = try await browser.developerTools("Network.setCookie", cookie)
    }
}
