import Foundation
import TestSupport
import Testing

/// The sign-in at a page of the owner on another site, in a browser.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct ExternalSignInJourneyTests {
    private static let password = "a kettle, a map and rain"

    /// Signs a user in at the page of the owner.
    private func signIn(_ name: String, on stage: Stage, at page: String) async throws {
        _ = try await stage.browser.waitForURL(startingWith: page)
        try await stage.fill("username", name)
        try await stage.fill("password", Self.password)
        try await stage.browser.find("form button").click()
    }

    // The cookie comes back with a navigation from another site, and no policy blocks the redirects.
    @Test func `a user signs in at a page of another site, from the console and from an app`() async throws {
        try await Stage.enter { other in
            try await Site.make(host: "localhost") { site in
                let (browser, port) = (other.browser, try ReservedPort())
                let page = "http://127.0.0.1:\(port.number)/login"
                let shop = try RunningProgram(
                    .signInPage, [site.issuer, page, site.folder.url.path],
                    environment: ["PAGE_PASSWORD": Self.password], in: site.folder)
                try await shop.whileRunning {
                    _ = try await shop.said("that it listens") { program in
                        (program.output + program.errors).contains("started and listening") ? true : nil
                    }
                    let clientID = try await site.registerClient(scopes: ["openid"])
                    let server = try await site.start(options: [
                        "--external-sign-in", page, "--external-sign-in-keys", site.folder.path("keys.json"),
                        "--external-sign-in-name", "Shop",
                    ])
                    try await server.whileRunning {
                        _ = try await server.said("that it listens") {
                            $0.errors.contains("Counterfoil serves ") ? true : nil
                        }
                        let stage = Stage(site: site, browser: browser, lightbox: clientID)
                        try await stage.open("/account")
                        try await stage.read("Sign in with Shop")
                        try await browser.find("a[href*='/sign-in/external']").click()
                        try await signIn("ada", on: stage, at: page)
                        _ = try await browser.waitForURL(startingWith: site.issuer + "/account")
                        try await stage.read("Ada")

                        _ = try await browser.developerTools("Network.clearBrowserCookies")
                        try await browser.navigate(to: stage.request(scope: "openid"))
                        try await signIn("ada", on: stage, at: page)
                        _ = try await browser.waitForElement("[value=allow]")
                        try await stage.read("Ada")
                        try await stage.expectNoComplaints()
                    }
                }
            }
        }
    }
}
