import CounterfoilConsole
import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

@Suite(.realBrowser, .serialized, .timeLimit(.minutes(15)))
struct PageTests {
    /// The window sizes: a desktop, a phone, and 1280 pixels at 400 % (WCAG 1.4.10).
    private static let windows = [
        (name: "desktop", width: 1024, height: 800, mobile: false),
        (name: "phone", width: 360, height: 740, mobile: true),
        (name: "narrow", width: 320, height: 640, mobile: false),
    ]

    @Test func `every page is usable in light and dark mode, on a phone and on a desktop`() async throws {
        try await PageFolder.run { folder in
            try await Browser.run { browser in
                for sample in SamplePage.all {
                    let url = try folder.write(sample.page, as: sample.name)
                    for window in Self.windows {
                        try await browser.emulateScreen(
                            width: window.width, height: window.height, mobile: window.mobile)
                        for scheme in Browser.ColorScheme.allCases {
                            let look = "\(sample.name)-\(window.name)-\(scheme)"
                            try await browser.emulate(scheme, reducedMotion: true)
                            try await browser.navigate(to: url)
                            let findings = try await PageAudit.findings(in: browser)
                            #expect(findings == [], "\(look)")
                            try await keepPicture(of: browser, as: look)
                        }
                    }
                }
            }
        }
    }

    @Test func `every page still fits when its text is twice as large`() async throws {
        try await PageFolder.run { folder in
            try await Browser.run { browser in
                try await browser.emulateScreen(width: 640, height: 800)
                for sample in SamplePage.all {
                    try await browser.navigate(to: folder.write(sample.page, as: sample.name))
                    _ = try await browser.execute("document.documentElement.style.fontSize = '200%'")
                    let wide = try await browser.execute("return document.documentElement.scrollWidth > innerWidth")
                    #expect(wide == false, "\(sample.name)")
                    try await keepPicture(of: browser, as: "\(sample.name)-large")
                }
            }
        }
    }

    // An audit that finds no defects must not pass as an audit of good pages.
    @Test func `the audit finds the faults of a bad page`() async throws {
        try await PageFolder.run { folder in
            try await Browser.run { browser in
                try await browser.emulateScreen(width: 320, height: 640)
                try await browser.navigate(to: folder.write(SamplePage.signIn, as: "sign-in"))
                _ = try await browser.execute(
                    """
                    document.querySelector('label').remove();
                    document.querySelector('button').innerText = '';
                    document.querySelector('h1').outerHTML = '<h3>x</h3>';
                    document.querySelector('.soft').style.color = '#999';
                    document.querySelector('.field input').style.width = '400px';
                    document.documentElement.lang = '';
                    """
                )
                let findings = try await PageAudit.findings(in: browser).joined(separator: "\n")
                for expected in [
                    "no language", "0 first headings", "a heading level is skipped", "a field without a label",
                    "a control without a name", "text at 2.85 : 1", "not allowed on a page",
                    "pixels wide in a window of 320",
                ] {
                    #expect(findings.contains(expected))
                }
            }
        }
    }

    // Sign-in and consent need at most three requests, including one for a logo, and 40 KB.
    @Test func `a page loads its stylesheet and nothing else`() async throws {
        try await PageFolder.run { folder in
            try await Browser.run { browser in
                for page in [SamplePage.signIn, SamplePage.consentByName] as [any Page] {
                    let url = try folder.write(page, as: "page")
                    _ = try await browser.requestedURLs()
                    try await browser.navigate(to: url)
                    let requests = try await browser.requestedURLs().filter { !$0.hasPrefix("data:") }
                    let folder = url.dropLast("page.html".count)
                    #expect(requests.first == url)
                    #expect(requests.contains(folder.dropLast() + Asset.stylesheet.path))
                    #expect(requests.count == 2, "\(requests)")
                    let html = try PageRenderer(pages: .console).render(page, in: SamplePage.frame)
                    let size = html.count + Asset.stylesheet.bytes.count
                    #expect(size <= 40_000)
                }
            }
        }
    }

    @Test func `a user signs in with the keyboard alone, and the focus is visible`() async throws {
        try await PageFolder.run { folder in
            let url = try folder.write(SamplePage.signIn, as: "sign-in")
            try await Browser.run { browser in
                try await browser.navigate(to: url)
                try await browser.waitForFocus(at: "username")
                var reached: [String] = []
                for _ in 0..<4 {
                    let outline = try await browser.execute(
                        "return getComputedStyle(document.activeElement).outlineStyle")
                    #expect(outline == "solid")
                    reached.append(try await browser.focused().accessibleName)
                    try await browser.press(Key.tab)
                }
                try #require(reached.count == 4)
                #expect(reached[2].hasPrefix("Keep me signed in on this device"))
                reached.remove(at: 2)
                #expect(reached == ["User name or email", "Password", "Sign in"])
            }
        }
    }

    @Test func `a refused sign-in keeps the name and shows the error at the fields`() async throws {
        try await PageFolder.run { folder in
            let url = try folder.write(SamplePage.signInAgain, as: "sign-in")
            try await Browser.run { browser in
                try await browser.navigate(to: url)
                #expect(try await browser.title == "Error: Sign in – Example Photos")
                #expect(try await browser.find("#username").property("value") == "alice")
                try await browser.waitForFocus(at: "password")
                #expect(try await browser.find("#problem").accessibleRole == "alert")
                #expect(
                    try await browser.find("#problem").text
                        == "That user name and password do not belong together. Try again in 2 minutes."
                )
            }
        }
    }

    // The page shows the client name and the list of permissions.
    @Test func `the consent page names the app, the redirect URI and the permissions`() async throws {
        try await PageFolder.run { folder in
            let url = try folder.write(SamplePage.consent, as: "consent")
            try await Browser.run { browser in
                try await browser.navigate(to: url)
                let heading = try await browser.find("h1").text
                #expect(heading == "Lightbox wants to access your Example Photos account")
                let text = try await browser.text
                for words in [
                    "by Lightbox AS", "an app on this device (127.0.0.1)", "Alice Andersen", "al•••@example.com",
                    "See your photos and albums", "at most 180 days",
                ] {
                    #expect(text.contains(words))
                }
                #expect(!text.contains("localhost"))
                var buttons: [String] = []
                for button in try await browser.findAll("button[name=decision]") {
                    let value = try await button.attribute("value")
                    buttons.append("\(try await button.accessibleName)=\(value ?? "")")
                }
                #expect(buttons == ["Use another account=switch", "Cancel=deny", "Allow=allow"])
            }
        }
    }

    // A redirect URI with localhost is accepted with a warning.
    @Test func `the consent page warns of a redirect URI with the name localhost`() async throws {
        try await PageFolder.run { folder in
            let url = try folder.write(SamplePage.consentByName, as: "consent")
            try await Browser.run { browser in
                try await browser.navigate(to: url)
                #expect(try await browser.find("[role=note]").text.contains("“localhost”"))
                let choices = try await browser.findAll("input[type=checkbox]")
                #expect(choices.count == 1)
                #expect(try await choices.first?.attribute("name") == "permission.photos.write")
            }
        }
    }

    // draft-ietf-oauth-client-id-metadata-document §6.4
    @Test func `the consent page sets off the registrable domain, and reads the host as one word`() async throws {
        try await PageFolder.run { folder in
            let url = try folder.write(SamplePage.consentForDocument, as: "consent")
            try await Browser.run { browser in
                try await browser.emulateScreen(width: 360, height: 740, mobile: true)
                try await browser.navigate(to: url)
                let heading = try await browser.find("h1").text
                #expect(heading == "apps.viewer.co.uk:8443 wants to access your Example Photos account")
                let weights = try await browser.execute(
                    """
                    const host = document.querySelector('h1 .host');
                    return [host, host.querySelector('b')].map(e => getComputedStyle(e).fontWeight);
                    """)
                #expect(weights.array?.compactMap(\.string) == ["400", "600"])
                // The claim of the client and the warnings are read before the permissions and the buttons.
                let text = try await browser.text
                let parts = [
                    "apps.viewer.co.uk", "It calls itself Photo Viewer.", "First seen here on 3 October 2026.",
                    "No one at Example Photos has checked this app.", "could be another one", "will be able to",
                ]
                let places = parts.map { text.range(of: $0)?.lowerBound }
                #expect(places.allSatisfy { $0 != nil })
                #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
            }
        }
    }

    /// Saves a screenshot in the folder that `SCREENSHOTS` names.
    private func keepPicture(of browser: Browser, as name: String) async throws {
        guard let path = ProcessInfo.processInfo.environment["SCREENSHOTS"] else { return }
        let folder = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await browser.screenshot().write(to: folder.appendingPathComponent("\(name).png"))
    }
}
