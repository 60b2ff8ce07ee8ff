import Foundation
import TestSupport
import Testing

/// Accounts that persons create in a browser, and the terms.
extension EveryPageTests {
    @Test func `a person asks for an account, creates one with an invitation, and another user accepts the terms`()
        async throws
    {
        try await Stage.enter { other in
            try await Site.make(host: "localhost") { site in
                try await site.add(.alice)
                // The mails go nowhere.
                let server = try await site.start(options: [
                    "--sign-up", "open", "--mail-program", "/bin/true", "--mail-sender", "id@example.com",
                    "--terms-uri", "https://www.example.com/terms", "--terms-version", "1",
                ])
                try await server.whileRunning {
                    _ = try await server.said("that it listens") {
                        $0.errors.contains("Counterfoil serves ") ? true : nil
                    }
                    let browser = other.browser
                    let stage = Stage(site: site, browser: browser, lightbox: "")
                    try await stage.walk(.signUp) { judge in
                        try await stage.open("/account")
                        try await browser.waitForElement("form[action$='/sign-up'] button").click()
                        _ = try await browser.waitForElement("input[name=email]")
                        try await judge(.signUp)
                        // The browser accepts the address, and the server does not.
                        try await stage.fill("email", "bob(x)@example.com")
                        _ = try await browser.execute("document.querySelector('[name=email]').type = 'text'")
                        try await stage.send()
                        _ = try await browser.waitForElement("[role=alert]")
                        try await judge(.signUpAgain)
                        try await stage.fill("email", "bob@example.com")
                        try await stage.send()
                        try await stage.read("bob@example.com")
                        try await judge(.signUpSent)

                        let invited = try await site.administer(["user", "invite"])
                        let link = invited.output.trimmingCharacters(in: .whitespacesAndNewlines)
                        try await browser.navigate(to: link)
                        _ = try await browser.waitForElement("input[name=username]")
                        try await judge(.newAccount)
                        try await stage.fill("username", "alice")
                        try await stage.fill("display_name", "Eve <b>Evans</b>")
                        try await stage.fill("password", "a lamp, a river and a kite")
                        try await browser.find("input[name=terms]").click()
                        try await stage.send()
                        _ = try await browser.waitForElement("[role=alert]")
                        try await judge(.newAccountAgain)
                        try await stage.fill("username", "eve")
                        try await stage.fill("password", "a lamp, a river and a kite")
                        try await browser.find("input[name=terms]").click()
                        try await browser.find("main form button.primary").click()
                        try await stage.read("Eve <b>Evans</b>")

                        _ = try await browser.developerTools("Network.clearBrowserCookies")
                        try await stage.open("/account")
                        try await stage.signIn(as: .alice)
                        _ = try await browser.waitForElement("button[value=accept]")
                        try await judge(.terms)
                        try await browser.find("button[value=accept]").click()
                        try await stage.read("Alice Andersen")
                        try await browser.waitFor("the account") {
                            try await browser.currentURL.hasSuffix("/account")
                        }
                    }
                }
            }
        }
    }
}
