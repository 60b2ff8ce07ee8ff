import TestSupport
import Testing

/// Passkeys in a browser, with its virtual authenticator.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct PasskeyJourneyTests {
    private static let ask = "button[data-ask]"
    private static let screens = Viewport.all.filter { $0.scheme == .light }

    /// Adds a passkey for alice, and signs her out.
    private func register(_ stage: Stage) async throws {
        try await stage.open("/account/passkeys", as: .alice)
        try await stage.send(Self.ask)
        try await stage.seeDone()
        try await signOut(stage)
    }

    private func signOut(_ stage: Stage) async throws {
        _ = try await stage.browser.developerTools("Network.clearBrowserCookies")
    }

    /// Waits until the authenticator has no passkey.
    private func forgets(_ authenticator: String, in browser: Browser) async throws {
        try await browser.waitFor("the end of the passkey", within: .seconds(20)) {
            try await browser.passkeys(in: authenticator) == 0
        }
    }

    private func arrive(_ stage: Stage, at path: String) async throws {
        _ = try await stage.browser.waitForURL(startingWith: stage.site.issuer + path)
    }

    @Test(arguments: screens)
    func `a user adds a passkey, signs in with it, and removes it`(screen: Viewport) async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await screen.apply(to: browser)
            try await browser.withAuthenticator { authenticator in
                try await register(stage)
                #expect(try await browser.passkeys(in: authenticator) == 1)

                // By the button, without a name; the suggestions of the field wait for a touch.
                try await browser.touch(authenticator, false)
                try await stage.open("/account")
                _ = try await browser.waitForElement(Self.ask + ":not([hidden] *)")
                #expect(try await stage.sees("[data-problem]") == false)
                try await browser.touch(authenticator, true)
                try await browser.find(Self.ask).click()
                try await arrive(stage, at: "/account")
                try await stage.read("Alice Andersen")

                // With a name in the field.
                try await signOut(stage)
                try await browser.touch(authenticator, false)
                try await stage.open("/account")
                try await stage.fill("username", "alice")
                try await browser.touch(authenticator, true)
                try await browser.find(Self.ask).click()
                try await stage.read("Alice Andersen")

                // The list shows the use; after the removal, the browser has forgotten the passkey.
                try await stage.open("/account/passkeys")
                #expect(try await browser.find(".list li").text.contains("just now"))
                try await browser.find(".list summary").click()
                try await stage.send("button[value=remove]")
                try await stage.seeDone()
                #expect(try await browser.findAll(".list li").isEmpty)
                try await forgets(authenticator, in: browser)
            }
            try await stage.expectNoComplaints()
        }
    }

    // WebAuthn §5.1.4, conditional mediation: the user picks the passkey among the suggestions of the name field.
    @Test(arguments: screens)
    func `the name field suggests the passkey`(screen: Viewport) async throws {
        try await Stage.enter { stage in
            try await screen.apply(to: stage.browser)
            try await stage.browser.withAuthenticator { _ in
                try await register(stage)
                // The authenticator answers at once, as if the user had picked the suggestion.
                try await stage.open("/account")
                try await arrive(stage, at: "/account")
                try await stage.read("Alice Andersen")
            }
        }
    }

    @Test(arguments: screens)
    func `a signed-in user confirms with the passkey for an app that asks for it`(screen: Viewport) async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await screen.apply(to: browser)
            try await browser.withAuthenticator { authenticator in
                try await register(stage)
                try await browser.touch(authenticator, false)
                try await stage.open("/account/password", as: .alice)
                try await browser.touch(authenticator, true)
                try await stage.ask(adding: "&acr_values=urn:counterfoil:acr:passkey")
                _ = try await browser.waitForElement("button[name=cancel]")
                #expect(try await browser.findAll("input[type=password]").isEmpty)
                #expect(try await browser.find("main").text.contains("Alice Andersen"))
                try await browser.find(Self.ask).click()
                try await stage.answer("allow")
            }
        }
    }

    @Test func `a user who does not unlock the passkey sees why, and signs in with the password`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.withAuthenticator(isWilling: false) { authenticator in
                try await browser.touch(authenticator, false)
                try await stage.open("/account")
                _ = try await browser.waitForElement(Self.ask)
                try await browser.touch(authenticator, true)
                try await browser.find(Self.ask).click()
                _ = try await browser.waitForElement("[data-problem]:not([hidden])")
                #expect(try await stage.sees("[data-problem]"))
                #expect(try await browser.find("[data-problem]").text == "No passkey was used. Try again.")
                try await stage.signIn(as: .grace)
                // Grace has no passkey, so the server offers one.
                try await browser.waitForElement("button[value=later]").click()
                try await arrive(stage, at: "/account")
            }
        }
    }

    private func removeElsewhere(_ stage: Stage) async throws {
        let removed = try await stage.site.administer(
            ["user", "password", "alice", "--password-stdin", "--remove-passkeys"],
            typing: Account.alice.password + "\n")
        #expect(removed.contains("Deleted "))
    }

    // The server no longer has the passkey, and tells the browser to forget it (WebAuthn §5.1.10).
    @Test(arguments: screens)
    func `a passkey that was removed elsewhere is refused`(screen: Viewport) async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await screen.apply(to: browser)
            try await browser.withAuthenticator { authenticator in
                try await register(stage)
                try await removeElsewhere(stage)
                try await browser.touch(authenticator, false)
                try await stage.open("/account")
                _ = try await browser.waitForElement(Self.ask)
                try await browser.touch(authenticator, true)
                try await browser.find(Self.ask).click()
                _ = try await browser.waitForElement("#problem")
                try await browser.touch(authenticator, false)
                #expect(try await browser.find("#problem").text.contains("removed from your account"))
                _ = try await browser.waitForElement("input[name=password]")
                try await forgets(authenticator, in: browser)
            }
        }
    }

    @Test func `after the password, a user whose passkey was removed adds another one`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.withAuthenticator { authenticator in
                try await register(stage)
                try await removeElsewhere(stage)
                try await browser.touch(authenticator, false)
                try await stage.open("/account")
                try await stage.signIn(as: .alice)
                // The server offers one, and the sign-in continues with it.
                _ = try await browser.waitForElement("button[value=later]")
                try await browser.touch(authenticator, true)
                try await browser.find(Self.ask).click()
                try await arrive(stage, at: "/account")
                try await stage.open("/account/passkeys")
                #expect(try await browser.findAll(".list li").count == 1)
            }
        }
    }

    @Test func `without scripts there is no button, and the password signs in`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.allowScripts(false)
            try await stage.open("/account")
            _ = try await browser.waitForElement(Self.ask)
            #expect(try await browser.find(Self.ask).text.isEmpty)
            try await stage.signIn(as: .alice)
            try await arrive(stage, at: "/account")
            try await stage.open("/account/passkeys")
            #expect(try await browser.find("main").text.contains("you need JavaScript"))
        }
    }
}
