import Foundation
import TestSupport
import Testing

/// The reaction of a browser to the header fields of the real server.
@Suite(.realBrowser, .serialized, .timeLimit(.minutes(15)))
struct BrowserPolicyTests {
    // Chromium applies `form-action` to the redirects after a form, so the policy must allow the redirect
    // URI.
    @Test func `the browser does not block the response to a private-use scheme`() async throws {
        let redirectURI = "com.example.lightbox:/callback"
        try await Journey.run(redirectURI: redirectURI) { journey in
            let browser = journey.browser
            try await browser.navigate(to: journey.request(redirectURI: redirectURI))
            try await journey.signIn()
            _ = try await browser.waitForElement("button[value=allow]")
            #expect(try await browser.text.contains("com.example.lightbox"))
            #expect(try await journey.complaints() == [])
            try await journey.press("allow")

            try await journey.waitForHeading("Back to Lightbox")
            let address = try await browser.find("a.button").property("href")?.string ?? ""
            #expect(address.hasPrefix(redirectURI + "?code="))
            // No program on this machine handles the scheme; the test only checks that the browser leaves
            // and nothing blocks it.
            try await browser.waitFor("the browser to leave for the application") {
                try await browser.requestedURLs().contains(address)
            }
            #expect(try await journey.complaints() == [])
        }
    }

    @Test func `the browser does not block the response to a first-party client after sign-in`() async throws {
        try await Journey.run(["--first-party"]) { journey in
            let device = try Device(in: journey.site.folder)
            let login = try device.beginLogin(journey.site, clientID: journey.clientID)
            try await login.whileRunning {
                try await journey.browser.navigate(to: try await device.openedAddress())
                try await journey.signIn()
                try await journey.waitForHeading("You can close this tab")
                #expect(try await login.ended().status == 0)
            }
            #expect(try await journey.complaints() == [])
        }
    }

    @Test func `the complete sign-in works without JavaScript`() async throws {
        try await Journey.run { journey in
            let browser = journey.browser
            _ = try await browser.developerTools("Emulation.setScriptExecutionDisabled", ["value": true])
            let device = try Device(in: journey.site.folder)
            let login = try device.beginLogin(journey.site, clientID: journey.clientID)
            try await login.whileRunning {
                try await browser.navigate(to: "data:text/html,<title>off</title><script>document.title='on'</script>")
                #expect(try await browser.title == "off")
                try await browser.navigate(to: try await device.openedAddress())
                try await journey.signIn()
                try await journey.press("allow")
                try await journey.waitForHeading("You can close this tab")
                #expect(try await login.ended().status == 0)
            }
        }
    }

    // RFC 9700 §4.16.
    @Test func `no page can be framed`() async throws {
        try await Journey.run { journey in
            let browser = journey.browser
            let file = journey.site.folder.url.appendingPathComponent("frame.html")
            for address in [
                journey.request(redirectURI: "http://127.0.0.1:49152/callback"), journey.site.issuer + "/nothing",
                journey.site.issuer + "/oauth2/authorize", journey.site.issuer + "/sign-in",
            ] {
                let escaped = address.replacing("&", with: "&amp;")
                try Data("<!doctype html><iframe src=\"\(escaped)\"></iframe>".utf8).write(to: file)
                _ = try await browser.consoleMessages()
                try await browser.navigate(to: file.absoluteString)
                try await browser.waitFor("the browser to refuse the frame") {
                    try await browser.consoleMessages().contains { $0.contains("frame-ancestors") }
                }
            }
        }
    }

    // The browser sends Sec-Fetch-Dest, and follows a redirect although the response forbids framing.
    @Test func `a silent request in a frame ends at the redirect URI of an unverified client`() async throws {
        let redirectURI = "https://app.invalid/cb"
        try await Journey.run(redirectURI: redirectURI, ["--no-vouched-for"]) { journey in
            let browser = journey.browser
            let file = journey.site.folder.url.appendingPathComponent("frame.html")
            let silent = journey.request(redirectURI: redirectURI) + "&prompt=none"
            let frame = "<!doctype html><iframe src=\"\(silent.replacing("&", with: "&amp;"))\"></iframe>"
            try Data(frame.utf8).write(to: file)
            try await browser.navigate(to: file.absoluteString)
            try await browser.waitFor("the frame to leave for the redirect URI") {
                try await browser.requestedURLs().contains { $0.hasPrefix(redirectURI + "?error=login_required") }
            }
            try await browser.navigate(to: silent)
            try await journey.waitForHeading("Back to Lightbox")
            #expect(try await browser.currentURL == silent)
        }
    }

    @Test func `scripts cannot read the cookies of a sign-in`() async throws {
        try await Journey.run { journey in
            let browser = journey.browser
            try await browser.navigate(to: journey.request(redirectURI: "http://127.0.0.1:49152/callback"))
            try await journey.signIn()
            _ = try await browser.waitForElement("button[value=allow]")
            let cookies = try await browser.cookies
            #expect(cookies.count == 3)
            for cookie in cookies {
                #expect(cookie["httpOnly"] == true)
                #expect(cookie["sameSite"] == "Lax")
                // The box to stay signed in is not ticked, so only the hint about this sign-in persists.
                #expect((cookie["expiry"] == nil) == (cookie["name"] != "counterfoil-earlier"))
            }
            #expect(try await browser.execute("return document.cookie") == "")
        }
    }
}
