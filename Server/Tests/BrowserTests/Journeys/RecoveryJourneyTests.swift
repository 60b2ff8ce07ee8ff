import CounterfoilServer
import Foundation
import TestSupport
import Testing

/// The ways back into an account in a browser.
extension EveryPageTests {
    private static let newPassword = "a new one that nobody else has"

    @Test func `a user who forgot the password asks for a link, and gets back by the link of an operator`()
        async throws
    {
        try await Stage.enter { other in
            try await Site.make(host: "localhost") { site in
                try await site.add(.alice)
                let mail = ["--mail-program", "/bin/true", "--mail-sender", "id@example.com"]
                let server = try await site.start(options: mail)
                try await server.whileRunning {
                    _ = try await server.said("that it listens") {
                        $0.errors.contains("Counterfoil serves ") ? true : nil
                    }
                    let browser = other.browser
                    let stage = Stage(site: site, browser: browser, lightbox: "")
                    try await stage.walk(.recovery) { judge in
                        try await stage.open("/account/password")
                        _ = try await browser.waitForElement("input[name=password]")
                        try await browser.find("form.end button").click()
                        _ = try await browser.waitForElement("button[value=mail]")
                        try await judge(.recovery)
                        try await stage.fill("name", Account.alice.name)
                        try await browser.find("button[value=mail]").click()
                        try await stage.read("a link is on its way")
                        try await judge(.recoverySent)

                        let link = try await site.administer(["user", "link", Account.alice.name], typing: "")
                            .split(separator: "\n").first.map(String.init)
                        try await browser.navigate(to: try #require(link))
                        _ = try await browser.waitForElement("input[name=token]")
                        try await judge(.newPassword)
                        try await stage.fill("password", Self.newPassword)
                        try await browser.find("main form button.primary").click()
                        try await stage.read("Alice Andersen")
                    }
                }
            }
        }
    }
}
