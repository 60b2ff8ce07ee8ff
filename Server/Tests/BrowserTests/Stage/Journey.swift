import Foundation
import TestSupport
import Testing

/// A user with Chromium on the pages of the real server.
struct Journey: Sendable {
    let browser: Browser
    let site: Site
    let clientID: String

    /// Runs `body` with a new server and a new browser.
    static func run(
        redirectURI: String = "http://127.0.0.1/callback", _ options: [String] = [],
        _ body: (Journey) async throws -> Void
    ) async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(
                redirectURIs: [redirectURI], options: ["--publisher", "Lightbox AS"] + options)
            try await site.serving {
                try await Browser.run { browser in
                    try await body(Journey(browser: browser, site: site, clientID: clientID))
                }
            }
        }
    }

    /// Returns an authorization request whose response no client receives.
    func request(redirectURI: String) -> String {
        let challenge = String(repeating: "A", count: 43)
        return "\(site.issuer)/oauth2/authorize?response_type=code&client_id=\(clientID)&redirect_uri=\(redirectURI)"
            + "&scope=openid%20photos.read&state=a-state&code_challenge=\(challenge)&code_challenge_method=S256"
    }

    /// Signs in on the sign-in page.
    func signIn(name: String = Account.alice.name, password: String = Account.alice.password) async throws {
        let field = try await browser.waitForElement("input[name=username]")
        try await field.clear()
        try await field.type(name)
        try await browser.find("input[name=password]").type(password)
        try await browser.find("form button.primary").click()
    }

    /// Presses a button on the consent page.
    func press(_ decision: String) async throws {
        try await browser.waitForElement("button[name=decision][value=\(decision)]").click()
    }

    /// Waits for a page with this heading.
    func waitForHeading(_ heading: String) async throws {
        try await browser.waitFor("the page “\(heading)”") {
            // The page can change while the script runs.
            (try? await browser.find("h1").text) == heading
        }
    }

    /// Returns the console messages of the pages, without the missing icon of the client's page.
    func complaints() async throws -> [String] {
        try await browser.consoleMessages().filter { !$0.contains("/favicon.ico") }
    }
}
