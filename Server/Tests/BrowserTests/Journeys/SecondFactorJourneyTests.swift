import CounterfoilServer
import Foundation
import TestSupport
import Testing

/// The second factor in a browser, on a server that requires one.
extension EveryPageTests {
    /// Returns the secret that a page shows, as an app would read it.
    private func secret(_ shown: String) throws -> AuthenticatorSecret {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        let bits = try shown.filter { !$0.isWhitespace }.map { letter in
            let value = try #require(alphabet.firstIndex(of: letter))
            let text = String(value, radix: 2)
            return String(repeating: "0", count: 5 - text.count) + text
        }.joined()
        let bytes = stride(from: 0, to: bits.count, by: 8).compactMap { start in
            UInt8(String(bits.dropFirst(start).prefix(8)), radix: 2)
        }
        return try #require(AuthenticatorSecret(bytes: bytes))
    }

    @Test func `a user sets up the second factor in the sign-in, and then enters a recovery code`() async throws {
        try await Stage.enter { other in
            try await Site.make(host: "localhost") { site in
                try await site.add(.alice)
                let server = try await site.start(options: ["--second-factor", "everyone"])
                try await server.whileRunning {
                    _ = try await server.said("that it listens") {
                        $0.errors.contains("Counterfoil serves ") ? true : nil
                    }
                    let browser = other.browser
                    let stage = Stage(site: site, browser: browser, lightbox: "")
                    try await stage.walk(.secondStep) { judge in
                        try await stage.open("/account")
                        try await stage.signIn(as: .alice)
                        _ = try await browser.waitForElement("input[name=code]")
                        try await judge(.codeSetup)
                        let secret = try secret(try await browser.find("main form code").text)
                        let step = AuthenticatorSecret.step(at: Date())
                        try await stage.fill("code", secret.code(at: step))
                        try await browser.find("main form button.primary").click()
                        let code = try await browser.waitForElement(".codes code").text
                        let codes = try await browser.findAll(".codes code")
                        #expect(codes.count == RecoveryCode.count)
                        let another = try await codes[1].text
                        try await judge(.recoveryCodes)
                        try await browser.find("a.button.primary").click()
                        try await stage.read("Alice Andersen")
                        try await stage.open("/account/second-factor")
                        _ = try await browser.waitForElement("#current")
                        try await judge(.secondFactor)

                        _ = try await browser.developerTools("Network.clearBrowserCookies")
                        try await stage.open("/account")
                        try await stage.signIn(as: .alice)
                        _ = try await browser.waitForElement("input[name=code]")
                        #expect(try await browser.findAll("input[type=password]").isEmpty)
                        try await judge(.code)
                        try await browser.find("details summary").click()
                        try await browser.find("#recovery-code").type(code)
                        try await browser.find("details button").click()
                        try await stage.read("Alice Andersen")

                        // A key of FIDO U2F verifies no user.
                        try await browser.withAuthenticator(isSecurityKey: true) { _ in
                            try await stage.open("/account/second-factor")
                            let add = "form[data-passkey=create] button[data-ask]"
                            _ = try await browser.waitForElement(add)
                            // The key is not asked without the code, and Enter asks it.
                            try await browser.find(add).click()
                            #expect(try await browser.focused().attribute("id") == "key-code")
                            #expect(try await browser.findAll("\(add):disabled").isEmpty)
                            try await browser.find("#key-code").type(another + Key.enter)
                            #expect(try await browser.waitForElement(".list li b").text == "Security key")
                            try await judge(.secondFactor)
                            _ = try await browser.developerTools("Network.clearBrowserCookies")
                            try await stage.open("/account")
                            try await stage.signIn(as: .alice)
                            // The sign-in page has such a button, too.
                            _ = try await browser.waitForElement("input[name=code]")
                            try await browser.waitForElement("form[data-passkey=get] button[data-ask]").click()
                            try await stage.read("Alice Andersen")
                        }
                    }
                }
            }
        }
    }
}
