import CounterfoilClient
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// RP-initiated logout with the released programs (OpenID Connect RP-Initiated Logout 1.0).
@Suite(.timeLimit(.minutes(10)))
struct BrowserSignOutTests {
    private static let options = ["--post-logout-redirect-uri", "http://127.0.0.1/callback"]

    /// Signs in with a browser, which keeps the session.
    private static func signIn(
        at site: Site, clientID: String, on device: Device, in browser: inout UserAgent
    ) async throws {
        let login = try device.beginLogin(site, clientID: clientID)
        let opened = try await device.openedAddress()
        _ = try await Account.alice.allow(opened, in: &browser)
        #expect(try await login.ended().status == 0)
    }

    // OpenID Connect RP-Initiated Logout §2 and §3
    @Test func `the session of the sign-in ends, and the program gets the response`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: Self.options)
            try await site.serving {
                let device = try Device(in: site.folder)
                var browser = UserAgent()
                try await Self.signIn(at: site, clientID: clientID, on: device, in: &browser)
                // The account page opens only for a signed-in user.
                #expect(try await browser.open("\(site.issuer)/account").url.hasSuffix("/account"))

                let logout = try device.begin(
                    "logout", "--browser", "open", "--redirect-uri", "http://127.0.0.1/callback", "--timeout", "60")
                let page = try await browser.open(try await device.openedAddress())
                #expect(page.heading == "You are signed out")
                #expect(page.url.hasPrefix("http://127.0.0.1:"))
                let ended = try await logout.ended()
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(
                    ended.output
                        == "Signed out: the token was deleted here and revoked at the server. The session at the server has"
                        + " ended.\n")
                #expect(try await browser.open("\(site.issuer)/account").url != "\(site.issuer)/account")
            }
        }
    }

    // There is no redirect to an unregistered URI, and the program stops waiting after its timeout.
    @Test(arguments: [false, true])
    func `an unregistered post-logout redirect URI is not used, and the program says that the token is deleted`(
        inJSON: Bool
    ) async throws {
        try await Site.run { site, clientID in
            let device = try Device(in: site.folder)
            var browser = UserAgent()
            try await Self.signIn(at: site, clientID: clientID, on: device, in: &browser)
            let logout = try device.begin(
                ["logout", "--browser", "open", "--redirect-uri", "http://127.0.0.1/callback", "--timeout", "2"]
                    + (inJSON ? ["--json"] : []))
            let page = try await browser.open(try await device.openedAddress())
            #expect(page.url.hasPrefix(site.issuer))
            let ended = try await logout.ended()
            let sentence =
                "the token was deleted here and revoked at the server, but the browser did not return from the server's"
                + " sign-out page. Register http://127.0.0.1/callback at the server as a post-logout redirect URI of this"
                + " client"
            #expect(ended.status == 4)
            #expect(
                ended.errors.hasSuffix(
                    inJSON
                        ? #"{"error":"timed_out","exit_code":4,"message":"\#(sentence)"}"# + "\n"
                        : "Error: \(sentence)\n"),
                "\(ended.errors)")
            #expect(ended.output.isEmpty)
            #expect(try await device.counterfoil("token").status == 3)
        }
    }
}
