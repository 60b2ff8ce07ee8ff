import Foundation
import TestSupport
import Testing

/// A sign-in whose response the desktop delivers, with the real server, browser, `xdg-open` and client
/// program.
@Suite(.realBrowser, .virtualDesktop, .serialized, .timeLimit(.minutes(15)))
struct CustomSchemeJourneyTests {
    @Test func `a desktop browser delivers the response to an app with a private-use scheme`() async throws {
        let scheme = "com.example.lightbox"
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(redirectURIs: ["\(scheme):/callback"])
            try await site.serving {
                let device = try Device(in: site.folder)
                try await VirtualDesktop.run(home: device.home, allowing: scheme, from: site.origin) { desktop in
                    try await Browser.run(on: desktop) { browser in
                        let journey = Journey(browser: browser, site: site, clientID: clientID)
                        let login = try device.beginLogin(
                            site, clientID: clientID, "--redirect-uri", "\(scheme):/callback")
                        try await login.whileRunning {
                            try await browser.navigate(to: try await device.openedAddress())
                            try await journey.signIn()
                            try await journey.press("allow")
                            let ended = try await login.ended()
                            #expect(ended.status == 0, "\(ended.errors)")
                        }
                        #expect(try await device.counterfoil("token").status == 0)
                    }
                }
                // The registration of the scheme is removed again.
                let applications = device.home + "/.local/share/applications"
                let entries = (try? FileManager.default.contentsOfDirectory(atPath: applications)) ?? []
                #expect(entries.filter { $0.hasPrefix("counterfoil") } == [])
            }
        }
    }
}
