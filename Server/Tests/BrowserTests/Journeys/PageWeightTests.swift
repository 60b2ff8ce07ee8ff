import Foundation
import TestSupport
import Testing

/// The size of pages, with everything that they load.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct PageWeightTests {
    /// The limit of 40 KB, uncompressed.
    private static let most = 40_960

    @Test func `sign-in and consent need at most four requests and 40 KB`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/admin/branding", as: .grace)
            let file = stage.site.folder.url.appendingPathComponent("site.png")
            try Drawing.sunrise.png().write(to: file)
            try await browser.find("input[name=logo]").choose(file)
            try await stage.tick("own_colour")
            try await stage.setColour("#7a1f5c")
            try await stage.send()
            try await stage.seeDone()

            // A browser without a cache and cookies.
            try await browser.forget()
            _ = try await browser.developerTools("Network.clearBrowserCache")
            try await stage.ask()
            try await expectLight("sign-in", in: browser)
            try await stage.signIn(as: .alice)
            _ = try await browser.waitForElement("[value=allow]")
            try await expectLight("consent", in: browser)
        }
    }

    /// Expects that the open page is at most 40 KB and needs at most four requests that the cache cannot
    /// answer.
    private func expectLight(_ name: String, in browser: Browser) async throws {
        let script = """
            return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
              .filter(entry => !entry.name.startsWith('data:'))
              .map(entry => ({ name: entry.name, bytes: entry.decodedBodySize, sent: entry.transferSize }));
            """
        let loaded = try await browser.execute(script).array ?? []
        let asked = loaded.filter { $0["sent"] != 0 }
        let bytes = loaded.compactMap { $0["bytes"]?.number }.reduce(0, +)
        #expect((1...4).contains(asked.count), "\(name): \(loaded)")
        #expect(bytes > 1000 && bytes <= Double(Self.most), "\(name): \(loaded)")
    }
}
