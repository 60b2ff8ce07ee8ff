import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The frame around the pages and their language, as a browser gets them.
struct FrameTests {
    private static let french: HTTPFields = [.acceptLanguage: "fr-FR, fr;q=0.9, en;q=0.8"]

    @Test func `a page is in the language of the browser`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        browser.fields = Self.french
        #expect(try await browser.open(Attempt(test).url).frame?.language == .french)
    }

    // The request of the client takes precedence over the preference of the browser.
    @Test func `ui_locales overrides the language of the browser on every page of the authorization`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        browser.fields = Self.french
        let page = try await browser.open(
            Attempt(test, for: "openid photos.read").with("ui_locales", "xx de-AT en").url)
        #expect(page.frame?.language == .german)

        let wrong = try await browser.signIn(on: page, username: "alice", password: "not this one")
        #expect(wrong.frame?.language == .german)
        #expect(try wrong.signInPage.problem == "Benutzername, E-Mail-Adresse oder Passwort ist falsch.")

        let consent = try await browser.signIn(on: wrong, username: "alice", password: TestServer.password)
        #expect(consent.frame?.language == .german)
        // The owner's description of a scope stays unchanged.
        #expect(
            try consent.consentPage.permissions.map(\.title) == [
                "Sie anmelden", "See your photos and albums",
            ])

        #expect(try await browser.decide(.allow, on: consent).frame?.language == .german)
    }

    // An unknown language is no reason to refuse a request.
    @Test(arguments: ["../../etc/passwd", "{", "%00", ""])
    func `garbage in ui_locales is ignored`(garbage: String) async throws {
        let test = try await TestServer()
        let reply = try await Attempt(test).with("ui_locales", garbage).firstReply()
        #expect(reply.status == .ok)
        #expect(reply.frame?.language == .english)
    }

    @Test func `a problem is shown in the requested language`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, at: "https://elsewhere.example/callback").with("ui_locales", "de")
        let reply = try await attempt.firstReply()
        #expect(reply.frame?.language == .german)
        #expect(try reply.problemPage.title == "Die Anfrage von Lightbox kann nicht angenommen werden")
    }

    // RFC 6749 §4.1.2.1: errors for clients stay in English.
    @Test func `errors for clients stay in English`() async throws {
        let test = try await TestServer()
        let error = try await Attempt(test).with("ui_locales", "de").with("code_challenge", nil)
            .with("code_challenge_method", nil).error()
        #expect(error.description?.hasPrefix("code_challenge is missing") == true)
    }

    @Test func `the branding of the owner is around every page immediately`() async throws {
        let test = try await TestServer(issuer: "https://id.example.com/tenant")
        let accent = try #require(AccentColor("#7a1fa2"))
        let branding = Branding(
            siteName: "Ada's\u{202E} Photos", accent: accent,
            supportURI: try AbsoluteURI(parsing: "mailto:help@example.com"))
        #expect(try await test.store.updateBranding(branding, logo: .keep) == .updated)
        let site = try #require(try await Attempt(test).firstReply().frame?.site)
        #expect(site.name == "Ada's Photos")
        #expect(site.initials == "AP")
        #expect(site.accent == accent)
        #expect(site.supportURI == "mailto:help@example.com")
        #expect(site.logo == nil)
    }

    // A user who has forgotten the password finds help once, below the form.
    @Test func `the sign-in page has a link to help below its form`() async throws {
        let test = try await TestServer()
        #expect(try !(await Attempt(test).firstReply().html().contains("Help with signing in")))
        let branding = Branding(supportURI: try AbsoluteURI(parsing: "mailto:help@example.com"))
        #expect(try await test.store.updateBranding(branding, logo: .keep) == .updated)
        let html = try await Attempt(test).firstReply().html()
        #expect(html.contains("<a href=\"mailto:help@example.com\" rel=\"noreferrer\">Help with signing in</a>"))
        #expect(html.ranges(of: "mailto:help@example.com").count == 1)
        let problem = try await Attempt(test).with("client_id", nil).firstReply().html()
        #expect(problem.ranges(of: "mailto:help@example.com").count == 1)
    }

    @Test func `the logo of the site is served below the issuer`() throws {
        let logo = try #require(LogoIdentifier(String(repeating: "A", count: 43)))
        let settings = ServerSettings(issuer: try Issuer("https://id.example.com/tenant"))
        let site = Site(Branding(logo: logo), settings: settings)
        #expect(site.logo == "/tenant/logos/\(logo.rawValue)")
        #expect(site.name == "id.example.com")
    }

    @Test func `a page that reports an unavailable store does not read the store`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        store.fail(.client)
        store.fail(.branding)
        var browser = test.browser()
        let reply = try await browser.open(Attempt(test).with("ui_locales", "es").url)
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.frame?.site.name == "Example Photos")
        #expect(reply.frame?.language == .spanish)
    }
}
