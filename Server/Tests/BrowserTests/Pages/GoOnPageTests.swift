import CounterfoilConsole
import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

// RFC 9700 §4.12: no 307 after a form; a page that continues automatically instead.
@Suite(.realBrowser, .serialized, .timeLimit(.minutes(15)))
struct GoOnPageTests {
    @Test(arguments: [
        "http://127.0.0.1:49371/callback?code=abc&state=x%27y%22z&copy=1&lt=2&amp=3",
        "http://[::1]:49371/callback?code=abc&state=%C3%A9",
        "https://127.0.0.1:49371/callback?state=a%3Bb=c;url=d&code=%27q%27",
    ])
    func `the page continues to the exact redirect URI automatically`(destination: String) async throws {
        var page = SamplePage.proceed
        page.destination = destination
        try await PageFolder.run { folder in
            let url = try folder.write(page, as: "go-on")
            try await Browser.run { browser in
                // Nothing listens at the redirect URI; the test checks which URL the browser requests.
                try await browser.navigate(to: url)
                try await browser.waitFor("a request to \(destination)") {
                    try await browser.requestedURLs().contains(destination)
                }
            }
        }
    }

    @Test func `the page for an app has a button in case it does not continue automatically`() async throws {
        try await PageFolder.run { folder in
            let url = try folder.write(SamplePage.proceed, as: "go-on")
            try await Browser.run { browser in
                try await browser.navigate(to: url)
                let button = try await browser.find("a.button")
                #expect(try await button.accessibleName == "Continue to Lightbox")
                #expect(try await button.property("href")?.string == SamplePage.proceed.destination)
                #expect(try await browser.currentURL == url)
            }
        }
    }

    @Test(arguments: [
        "javascript:alert(1)", "data:text/html,x", "JaVaScRiPt:alert(1)", "/relative", "", " javascript:x",
    ])
    func `a destination that the page would execute is refused`(destination: String) throws {
        var page = SamplePage.proceed
        page.destination = destination
        #expect(throws: PageRenderer.Failure.unsafeDestination) {
            try PageRenderer(pages: .console).render(page, in: SamplePage.frame)
        }
    }
}
