import CounterfoilPages
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

/// The size of the pages that a user waits for.
struct PageWeightTests {
    // The page and its stylesheet are two requests, a logo or a script a third, and light enough for a slow phone.
    @Test func `sign-in and consent weigh at most 40 KB with everything they load`() async throws {
        let test = try await TestServer()
        let logo = Logo(format: .png, bytes: [UInt8](repeating: 7, count: Logo.byteLimit))
        let client = try await test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/cb"],
            consentText: String(repeating: "We keep a copy of every album that you choose. ", count: 60),
            privacyURI: "https://darkroom.example/privacy", termsURI: "https://darkroom.example/terms")
        #expect(try await test.store.updateClient(client, logo: .replace(logo)) == .updated)
        let attempt = Attempt(test, by: client, at: "http://127.0.0.1:4000/cb", for: "openid profile photos.read")
        var browser = test.browser()
        let signIn = try await browser.open(attempt.url)
        let consent = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password)
        for reply in [signIn, consent] {
            let html = try reply.html()
            let scripts = Asset.all.filter { !$0.isStylesheet && html.contains($0.path) }
            let loaded = Asset.stylesheet.bytes.count + logo.bytes.count + scripts.map(\.bytes.count).reduce(0, +)
            #expect(html.utf8.count + loaded <= 40 * 1024)
            #expect(html.matches(of: /<(?:img|script|iframe|video|audio|object|embed)[ >]/).count <= 1)
            #expect(html.matches(of: /<link rel="stylesheet"/).count == 1)
        }
    }
}
