import TestSupport
import Testing

/// The pages of the console: for developers, administrators and every user.
extension EveryPageTests {
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

                // In a browser that can create a passkey, a user who has none is asked once.
                try await stage.browser.withAuthenticator { authenticator in
                    try await stage.browser.touch(authenticator, false)
                    try await stage.open("/account")
                    try await stage.signIn(as: .alice)
                    let later = try await stage.browser.waitForElement("button[value=later]")
                    try await judge(.passkeyOffer)
                    try await later.click()
                    try await stage.read("Alice Andersen")
                }
            }
        }
    }

    @Test func `the pages of a developer are accessible`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.walk(.developer) { judge in
                try await stage.open("/apps", as: .alice)
                try await judge(.clientsNone)
                try await stage.open("/apps/new")
                try await judge(.clientTypes)
                try await stage.follow("/apps/new?type=native")
                _ = try await browser.waitForElement("#redirect_uris")
                try await judge(.newClient)

                try await stage.fill("name", "Picture Frames")
                try await stage.fill(
                    "redirect_uris", "http://localhost/callback\nmyapp://callback\ncom.example.frames:/done")
                try await stage.send()
                _ = try await browser.waitForElement("#problems")
                try await judge(.newClientProblems)
                try await stage.unfold()
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
                try await judge(.client)
                for (page, screen) in [
                    ("edit", Screen.editClient), ("connect", .connect), ("logo", .logo),
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
                try await stage.open("\(path)/developers")
                try await judge(.developers)
                try await stage.open("\(path)/delete")
                try await judge(.deleteClient)

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
                try await judge(.clients)
                try await stage.follow("/apps/apis")
                try await stage.arrive(at: "APIs")
                try await judge(.availableAPIs)
            }
        }
    }

    @Test func `the pages of an administrator are accessible`() async throws {
        try await Stage.enter { stage in
            try await stage.walk(.administrator) { judge in
                try await stage.open("/admin", as: .grace)
                try await judge(.overview)
                try await stage.open("/admin/apps")
                try await judge(.administration)
                try await stage.open("/admin/users")
                try await judge(.users)
                try await stage.open("/admin/users?search=nobody&state=disabled&no_passkey=on")
                try await judge(.usersFiltered)
                try await stage.open("/admin/users/invitations")
                try await judge(.invitations)
                try await stage.open("/admin/users/new")
                try await judge(.newUser)
                try await stage.fill("username", "grace")
                try await stage.fill("display_name", "Grace Hopper")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#problems")
                try await judge(.newUserProblems)
                try await stage.fill("username", "hopper")
                try await stage.send()
                try await stage.seeDone()
                try await judge(.user)
                let account = try await stage.path()
                try await stage.open(account + "/claims")
                try await stage.fill("user_attributes", "{\"email\": \"grace@example.com\"}")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#problems")
                try await judge(.userAttributesProblems)
                try await stage.fill("groups", "staff\neditors")
                try await stage.fill("user_attributes", "{\"department\": \"Research\", \"floor\": 3}")
                try await stage.send()
                try await stage.seeDone()
                try await stage.open("\(account)/claims?client_id=\(stage.lightbox)")
                try await judge(.userAttributes)
                try await stage.open(account + "/delete")
                try await judge(.deleteUser)
                try await stage.open("/apps/\(stage.lightbox)/policy")
                try await judge(.policy)
                try await stage.tick("pkce", "s256-or-plain")
                try await stage.send()
                _ = try await stage.browser.waitForElement(".alert[role=note]")
                try await judge(.danger)
                try await stage.open("/apps/\(stage.lightbox)/approval")
                try await judge(.decision)
                try await stage.fill("reason", "It sends mail to all contacts.")
                try await stage.send("button[value=suspend]")
                try await stage.seeDone()
                try await judge(.suspension)
                try await stage.send("button[value=resume]")
                try await stage.seeDone()
                try await stage.open("/admin/branding")
                try await judge(.branding)
                try await stage.open("/admin/mail")
                try await judge(.mailPreview)
                for (page, screen) in [
                    ("mail/test", Screen.testMail), ("server", .server), ("server/certificate", .certificate),
                    ("settings", .serverSettings), ("registration-tokens", .registrationTokens),
                    ("keys/rotate?algorithm=ES256", .rotateKey), ("keys", .keys),
                ] {
                    try await stage.open("/admin/\(page)")
                    try await judge(screen)
                }
                try await stage.browser.find("a[href*='/admin/keys/withdraw']").click()
                _ = try await stage.browser.waitForElement("button.destructive")
                try await judge(.withdrawKey)
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
                let path = try await stage.storeUnregisteredClient("https://app.example.com/oauth/client.json")
                try await stage.open("/admin/unregistered")
                try await judge(.unregisteredClients)
                try await stage.follow("/admin/unregistered/clients?host=app.example.com")
                try await stage.arrive(at: "app.example.com")
                try await stage.browser.find("details summary").click()
                try await judge(.unregisteredFamily)
                try await stage.follow(path)
                try await stage.arrive(at: "Album")
                try await judge(.unregisteredClient)
                try await stage.open("/admin/scopes")
                try await judge(.scopes)
                try await stage.open("/admin/scopes/new")
                try await judge(.newScope)
                try await stage.fill("name", "openid")
                try await stage.fill("text_en", "See your albums")
                try await stage.fill("text_de", "Ihre Alben sehen")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#problems")
                try await judge(.newScopeProblems)
                try await stage.fill("name", "albums.read")
                try await stage.send()
                try await stage.seeDone()
                try await stage.open("/admin/apis/new")
                try await judge(.newAPI)
                try await stage.fill("uri", "https://albums.example.com/#top")
                try await stage.fill("name", "Albums")
                try await stage.tick("scope", "albums.read")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#problems")
                try await judge(.newAPIProblems)
                try await stage.fill("uri", "https://albums.example.com")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#check")
                try await stage.browser.find(".configuration summary").click()
                try await judge(.apiSecret)
                try await stage.open("/admin/apis")
                try await judge(.apis)
                for (page, screen) in [("edit", Screen.editAPI), ("delete", .deleteAPI)] {
                    try await stage.open("/admin/apis/\(page)?api=https%3A%2F%2Falbums.example.com")
                    try await judge(screen)
                }
                for (page, screen) in [("edit", Screen.editScope), ("delete", .deleteScope)] {
                    try await stage.open("/admin/scopes/\(page)?scope=albums.read")
                    try await judge(screen)
                }
                try await stage.open("/admin/webhooks/new")
                try await judge(.newWebhook)
                try await stage.fill("label", "Album library")
                try await stage.fill("url", "http://hooks.example.com/events")
                try await stage.tick("types", "user.created")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#problems")
                try await judge(.newWebhookProblems)
                try await stage.fill("url", "https://hooks.example.com/events")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#deliveries")
                let webhook = try await stage.storeWebhookDeliveries()
                try await stage.open("/admin/webhooks/webhook?webhook=\(webhook)")
                _ = try await stage.browser.waitForElement("table.rows")
                try await judge(.webhook)
                try await stage.open("/admin/webhooks")
                try await judge(.webhooks)
                for (page, screen) in [("edit", Screen.editWebhook), ("delete", .deleteWebhook)] {
                    try await stage.open("/admin/webhooks/\(page)?webhook=\(webhook)")
                    try await judge(screen)
                }
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
                    ("apps/\(stage.lightbox)", Screen.connectedClient), ("sessions", .sessions),
                    ("passkeys", .passkeysNone), ("email", .email), ("activity", .activity), ("password", .password),
                ] {
                    try await stage.open("/account/\(page)")
                    try await judge(screen)
                }
                try await stage.fill("current_password", "not this one")
                try await stage.fill("new_password", "a new password of mine")
                try await stage.send()
                _ = try await stage.browser.waitForElement("#problems")
                try await judge(.passwordProblems)
                try await stage.browser.withAuthenticator {
                    try await stage.open("/account/passkeys")
                    try await stage.send("button[data-ask]")
                    try await stage.seeDone()
                    try await stage.browser.find("details summary").click()
                    try await judge(.passkeys)
                    try await stage.ask(adding: "&acr_values=urn:counterfoil:acr:passkey")
                    _ = try await stage.browser.waitForElement("button[name=cancel]")
                    try await judge(.signInConfirming)
                }
            }
        }
    }
}
