import CounterfoilProtocol
import TestSupport
import Testing

/// The response on a loopback port, for each loopback host.
@Suite(.timeLimit(.minutes(10)))
struct LoopbackRedirectTests {
    // The three loopback hosts, with a port that was not registered.
    @Test(arguments: ["http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost/callback"])
    func `a sign-in works on any port of the registered loopback host`(redirectURI: String) async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(redirectURIs: [redirectURI])
            try await site.serving {
                let device = try Device(in: site.folder)
                let login = try device.beginLogin(site, clientID: clientID, "--redirect-uri", redirectURI)
                try await login.whileRunning {
                    var browser = UserAgent()
                    let closing = try await Account.alice.allow(try await device.openedAddress(), in: &browser)
                    #expect(closing.url.hasPrefix(redirectURI.replacing("/callback", with: ":")))
                    #expect(closing.heading == "You can close this tab")
                    #expect(try await login.ended().status == 0)
                }
                #expect(try await device.counterfoil("token").status == 0)
            }
        }
    }

    // Localhost is supported, with a warning.
    @Test func `the consent page warns of a redirect URI with the name localhost`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(
                redirectURIs: ["http://localhost/callback", "http://127.0.0.1/callback"])
            try await site.serving {
                let device = try Device(in: site.folder)
                for (redirectURI, warns) in [("http://localhost/callback", true), ("http://127.0.0.1/callback", false)]
                {
                    let login = try device.beginLogin(site, clientID: clientID, "--redirect-uri", redirectURI)
                    try await login.whileRunning {
                        var browser = UserAgent()
                        let consent = try await Account.alice.signIn(try await device.openedAddress(), in: &browser)
                        #expect(consent.text.contains("another program could receive the response") == warns)
                    }
                }
            }
        }
    }

    // An unregistered redirect URI gets no response, and the program times out.
    @Test func `an unregistered redirect URI gets a page, and nothing is sent there`() async throws {
        try await Site.run { site, clientID in
            let device = try Device(in: site.folder)
            let login = try device.beginLogin(
                site, clientID: clientID, "--redirect-uri", "http://127.0.0.1/elsewhere", "--timeout", "1", "--par",
                "never")
            try await login.whileRunning {
                var browser = UserAgent()
                let page = try await browser.open(try await device.openedAddress())
                #expect(page.status == 400)
                #expect(page.header("location") == nil)
                #expect(page.continuationURL == nil)
                let ended = try await login.ended()
                #expect(ended.status == 4)
            }
        }
    }
}
