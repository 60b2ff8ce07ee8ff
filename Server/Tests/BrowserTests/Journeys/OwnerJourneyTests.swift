import Foundation
import TestSupport
import Testing

/// The first days of an owner, who uses what the pages show and neither a terminal nor the guide.
extension EveryPageTests {
    private static let dora = Account(name: "dora", fullName: "Dora Dean", password: "seven boats in a quiet bay")

    @Test func `an owner of an empty server does everything on pages`() async throws {
        try await Stage.enter { other in
            try await Site.make(host: "localhost") { site in
                let server = try await site.start(options: ["--new-apps", "pending"])
                try await server.whileRunning {
                    let setup = try await server.said("a link that makes an owner") {
                        $0.errors.firstMatch(of: /http\S+\/setup\?token=\S+/).map { String($0.output) }
                    }
                    let stage = Stage(site: site, browser: other.browser, lightbox: "")
                    try await stage.setUpOwner(setup)
                    let link = try await stage.addUser(Self.dora)
                    try await stage.addScope()
                    try await stage.addAPI()

                    try await stage.choosePassword(link, as: Self.dora)
                    let client = try await stage.registerApp()
                    try await stage.ask(client, scope: "albums.read")
                    try await stage.read("is not approved yet")

                    try await stage.decideOnWaitingApp()
                    try await stage.ask(client, scope: "albums.read")
                    try await stage.answer("allow")
                    try await stage.suspend(client)
                    try await stage.ask(client, scope: "albums.read")
                    try await stage.read("is suspended")
                }
            }
        }
    }
}

extension Stage {
    /// Presses what has these words, as a person finds it on the page.
    private func press(_ words: String) async throws { try await control(words).click() }

    fileprivate func setUpOwner(_ link: String) async throws {
        try await browser.navigate(to: link)
        try await fill("username", Account.grace.name)
        try await fill("email", "grace@example.com")
        try await fill("password", Account.grace.password)
        try await send("button.primary")
        try await press("Sign in")
        try await signIn(as: .grace)
        try await arrive(at: "Administration")
    }

    /// Adds a user, and returns the one-time link for the first password.
    fileprivate func addUser(_ user: Account) async throws -> String {
        try await press("Users")
        try await arrive(at: "Users")
        try await press("Add a user")
        try await fill("username", user.name)
        try await fill("display_name", user.fullName)
        try await send()
        try await seeDone()
        try await press("Create a one-time link")
        return try await browser.waitForElement("#link ~ .code pre").text
    }

    fileprivate func addScope() async throws {
        try await open("/admin")
        try await press("Scopes")
        try await press("Create a scope")
        try await fill("name", "albums.read")
        try await fill("text_en", "See your albums")
        try await send()
        try await seeDone()
    }

    fileprivate func addAPI() async throws {
        try await press("APIs")
        try await press("Register an API")
        try await fill("uri", "https://albums.example.com")
        try await fill("name", "Albums")
        try await tick("scope", "albums.read")
        try await send()
        _ = try await browser.waitForElement("#check")
    }

    fileprivate func choosePassword(_ link: String, as user: Account) async throws {
        _ = try await browser.developerTools("Network.clearBrowserCookies")
        try await browser.navigate(to: link)
        try await fill("password", user.password)
        try await send("main form button.primary")
    }

    /// Registers an app as the user who is signed in, and returns its `client_id`.
    fileprivate func registerApp() async throws -> String {
        try await open("/apps/new?type=native")
        try await fill("name", "Frames")
        try await fill("redirect_uris", Self.redirectURI)
        try await tick("scope", "albums.read")
        try await send()
        try await arrive(at: "Frames")
        try await read("waits for approval")
        return String(try await path().dropFirst("/apps/".count))
    }

    /// Finds on the first page that an app waits, and approves it.
    fileprivate func decideOnWaitingApp() async throws {
        _ = try await browser.developerTools("Network.clearBrowserCookies")
        try await open("/admin", as: .grace)
        try await browser.waitForElement("main .note a").click()
        try await press("Frames")
        try await arrive(at: "Frames")
        try await press("Approval")
        try await send("button[value=approve]")
        try await seeDone()
    }

    /// Finds who used the app, and suspends it.
    fileprivate func suspend(_ client: String) async throws {
        try await open("/admin")
        try await press("Audit log")
        try await press("Filter the events")
        try await fill("client", client)
        try await send()
        let events = try await browser.find("table tbody").text
        #expect(events.contains("Sign-in") && events.contains("grace") && events.contains("Frames"))
        try await open("/apps/\(client)")
        try await press("Approval")
        try await fill("reason", "It sends mail to all contacts.")
        try await send("button[value=suspend]")
        try await seeDone()
    }
}
