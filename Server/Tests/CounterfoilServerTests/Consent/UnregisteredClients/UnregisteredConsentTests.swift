import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes
import Testing

@testable import CounterfoilServer

/// The pages that name a client that no person registered.
struct UnregisteredConsentTests {
    // draft-ietf-oauth-client-id-metadata-document §6.4
    @Test func `the consent page names a client by the host of its document`() async throws {
        let viewer = try await DocumentClient()
        var browser = try await viewer.browser()
        let reply = try await browser.open(viewer.attempt().url)
        let page = try reply.consentPage
        #expect(page.clientName == "apps.viewer.co.uk")
        #expect(
            page.unregisteredClient
                == .init(
                    host: ShownHost("apps.viewer.co.uk", suffixes: .system), name: "Photo Viewer",
                    use: "First seen here today.", isOnDevice: true))
        #expect(page.clientInitials == "PV")
        #expect(!page.isVouchedFor)
        let html = try reply.html()
        #expect(html.contains(#"<h1><bdi class="host">apps.<b>viewer.co.uk</b></bdi> wants to access"#))
        #expect(html.contains("It calls itself <b><bdi>Photo Viewer</bdi></b>."))
        #expect(html.contains("has checked this app. It chose its name and its picture itself."))
        #expect(html.contains("<title>Allow apps.viewer.co.uk?"))
    }

    // The destination of the response, and a warning for loopback addresses only.
    @Test(arguments: [
        ("http://127.0.0.1/callback", "http://127.0.0.1:51004/callback", true),
        ("http://localhost/callback", "http://localhost:51004/callback", true),
        ("https://apps.viewer.co.uk/callback", "https://apps.viewer.co.uk/callback", false),
        ("uk.co.viewer:/callback", "uk.co.viewer:/callback", false),
    ])
    func `only a client on the device is said to be possibly another one`(
        registered: String, sent: String, isOnDevice: Bool
    ) async throws {
        let viewer = try await DocumentClient(redirectURIs: [registered])
        var browser = try await viewer.browser()
        let reply = try await browser.open(viewer.attempt(at: sent).url)
        #expect(try reply.consentPage.unregisteredClient?.isOnDevice == isOnDevice)
        #expect(try reply.html().contains("This app runs on your device and could be another one") == isOnDevice)
        let host = try reply.consentPage.redirectDestination
        #expect(host == .init(try RedirectURI(sent), of: isOnDevice || sent.hasPrefix("uk") ? .native : .singlePage))
    }

    @Test(arguments: Language.allCases)
    func `the page says in every language that no one has checked the client`(language: Language) async throws {
        let viewer = try await DocumentClient()
        var browser = try await viewer.browser()
        browser.fields[.acceptLanguage] = language.rawValue
        let html = try await browser.open(viewer.attempt().url).html()
        let words = try #require(Localizer(language).message("consent.not-checked-by-anyone"))
        guard case .text(let last)? = words.pieces.last, case .text(let first)? = words.pieces.first else {
            Issue.record("the text begins or ends with a place")
            return
        }
        #expect(html.contains(first) && html.contains(last))
    }

    // OpenID Connect Core §3.1.2.1: the page is shown. Some SDKs send prompt=consent with every offline_access.
    @Test func `a step-up with prompt=consent asks about the new scope only`() async throws {
        let viewer = try await DocumentClient()
        var browser = try await viewer.browser()
        func open(_ scope: String) async throws -> Reply {
            try await browser.open(viewer.attempt().with("scope", scope).with("prompt", "consent").url)
        }
        let first = try await open("openid")
        #expect(try first.consentPage.permissions.map(\.scope) == ["openid"])
        _ = try await browser.decide(.allow, on: first)
        let more = try await open("openid photos.read")
        #expect(try more.consentPage.permissions.map(\.scope) == ["photos.read"])
        #expect(try more.consentPage.permissions.map(\.isNew) == [true])
        #expect(try more.consentPage.allowedBefore.map(\.scope) == ["openid"])
        _ = try await browser.decide(.allow, on: more)
        // A request that adds nothing is shown in full, with the hint.
        let again = try await open("openid photos.read").consentPage
        #expect(again.permissions.map(\.scope) == ["openid", "photos.read"])
        #expect(again.allowedBefore.isEmpty)
    }

    @Test func `the page says since when the server knows a client, and how many people use it`() async throws {
        let viewer = try await DocumentClient()
        var browser = try await viewer.browser()
        _ = try await browser.decide(.allow, on: try await browser.open(viewer.attempt().url))
        #expect(
            try await browser.open(viewer.attempt().url).consentPage.unregisteredClient?.use
                == "First seen here today. 1 person here uses it.")
        _ = try await viewer.test.addUser("bob")
        var other = viewer.test.browser()
        try await other.signInToConsole(username: "bob")
        _ = try await other.decide(.allow, on: try await other.open(viewer.attempt().url))
        viewer.test.clock.advance(by: 86_400)
        var later = try await viewer.browser()
        #expect(
            try await later.open(viewer.attempt().url).consentPage.unregisteredClient?.use
                == "First seen here on 15 January 2027. 2 people here use it.")
    }

    @Test func `beyond a limit the page does not count the people`() async throws {
        let viewer = try await DocumentClient()
        for (count, text) in [(1000, "1000 people here use it."), (1001, "More than 1,000 people here use it.")] {
            let section = UnregisteredClientIntroduction(
                host: nil, userCount: count, logo: nil, now: viewer.test.clock.now
            ).section(of: viewer.client, at: .website(host: "viewer.co.uk"), in: .english)
            #expect(section.use == "First seen here today. " + text)
        }
    }

    // RFC 7591 §5
    @Test func `a client that registered itself has an unverified name and the host of its redirect URI`() async throws
    {
        let viewer = try await DocumentClient()
        let client = try await DocumentClient.selfRegistered(
            in: viewer.test, redirectURIs: ["https://viewer.example/cb", "https://bank.example/cb"])
        var browser = try await viewer.browser()
        let reply = try await browser.open(Attempt(viewer.test, by: client, at: "https://viewer.example/cb").url)
        let page = try reply.consentPage
        #expect(page.clientName == "Photo Viewer (viewer.example)")
        #expect(page.unregisteredClient?.host == nil)
        #expect(try reply.html().contains("This app registered itself. Its name is not verified."))
        #expect(client.displayName == "Photo Viewer (bank.example, viewer.example)")
    }

    // The device of a stranger gets the tokens, whatever hosts its redirect URIs have.
    @Test func `a device that registered itself is named by its client_id`() async throws {
        let viewer = try await DocumentClient()
        let client = try await DocumentClient.selfRegistered(
            in: viewer.test, redirectURIs: ["https://accounts.bank.example/cb"],
            metadata: ["grant_types": .array([.string("urn:ietf:params:oauth:grant-type:device_code")])])
        #expect(client.displayName == "Photo Viewer (dyn_viewer)")
        let codes = try await TestDevice(viewer.test, client: client).codes()
        var browser = try await viewer.browser()
        let reply = try await browser.type(userCode: codes.userCode)
        #expect(try reply.consentPage.clientName == "Photo Viewer (dyn_viewer)")
        #expect(try !reply.html().contains("bank.example"))
    }

    // A text of the client could pass for one of the service.
    @Test func `the consent text of an unregistered client is never shown`() async throws {
        let viewer = try await DocumentClient()
        let client = try await DocumentClient.selfRegistered(in: viewer.test, redirectURIs: ["http://127.0.0.1/cb"])
        try await viewer.test.change(client) { $0.presentation.consentText = "Checked by Example Photos" }
        var browser = try await viewer.browser()
        let reply = try await browser.open(Attempt(viewer.test, by: client, at: "http://127.0.0.1:4000/cb").url)
        #expect(try reply.consentPage.clientText == nil)
    }

    // Every other page that names the client.
    @Test func `the name of an unregistered client is shown with its host on every page`() async throws {
        let viewer = try await DocumentClient(name: "Example Photos")
        let full = "Example Photos (apps.viewer.co.uk)"
        var browser = viewer.test.browser()
        let signIn = try await browser.open(viewer.attempt().url)
        #expect(try signIn.signInPage.clientName?.description == full)
        let consent = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password)
        #expect(try await browser.decide(.allow, on: consent).goOnPage.clientName.description == full)
        let account = try await browser.open("/account")
        let client = try #require(try account.accountPage.clients.first)
        #expect(client.fullName.description == full)
        #expect(client.unregistered?.host == ShownHost("apps.viewer.co.uk", suffixes: .system))
        #expect(try account.html().contains(#"<bdi class="host">apps.<b>viewer.co.uk</b></bdi>"#))
        let html = try await browser.open(client.path).html()
        #expect(html.contains(#"<bdi class="host">apps.<b>viewer.co.uk</b></bdi>"#))
        let refused = try await browser.open(viewer.attempt(at: "https://attacker.example/").url)
        #expect(try refused.html().contains("(apps.viewer.co.uk)"))
    }

    // The host of the document stands for such a name.
    @Test(arguments: [
        ("Example Photos (id.example.com)", "apps.viewer.co.uk"), ("good.victim.example", "apps.viewer.co.uk"),
        ("Viewer.co.uk Photos", "Viewer.co.uk Photos (apps.viewer.co.uk)"),
    ])
    func `a name in a document with another host than its own is not shown`(name: String, shown: String) async throws {
        let viewer = try await DocumentClient(name: name)
        let signIn = try await viewer.attempt().firstReply().signInPage
        #expect(signIn.clientName?.description == shown)
    }

    @Test func `a name from right to left cannot change the order of the host's labels`() async throws {
        let viewer = try await DocumentClient(at: "https://1.viewer.co.uk/c", name: "תמונות")
        let signIn = try await viewer.attempt().firstReply().signInPage
        #expect(signIn.clientName?.description == "תמונות (\u{2066}1.viewer.co.uk\u{2069})")
    }

    // A long host keeps its end, which tells whose it is.
    @Test func `a long host loses its beginning`() async throws {
        let host = "accounts.bank.example." + String(repeating: "a", count: 60) + ".attacker.co.uk"
        let viewer = try await DocumentClient(at: "https://\(host):8443/client.json", name: nil)
        var browser = try await viewer.browser()
        let reply = try await browser.open(viewer.attempt().url)
        let name = try reply.consentPage.clientName.description
        #expect(name.count == DisplayName.maximumLength)
        #expect(name.hasPrefix("…") && name.hasSuffix("aaa.attacker.co.uk:8443"))
        #expect(try reply.consentPage.unregisteredClient?.name == nil)
        #expect(try reply.consentPage.unregisteredClient?.host?.domain == "attacker.co.uk")
        #expect(try reply.consentPage.unregisteredClient?.host?.port == ":8443")
    }

    @Test func `the page for a device names the client by its host`() async throws {
        let viewer = try await DocumentClient([
            "grant_types": .array([.string("urn:ietf:params:oauth:grant-type:device_code")])
        ])
        let device = TestDevice(viewer.test, client: viewer.client)
        let codes = try await device.codes()
        var browser = try await viewer.browser()
        let reply = try await browser.type(userCode: codes.userCode)
        let page = try reply.consentPage
        #expect(page.clientName == "apps.viewer.co.uk")
        #expect(page.unregisteredClient?.isOnDevice == false)
        #expect(try reply.html().contains(#"<h1><bdi class="host">apps.<b>viewer.co.uk</b></bdi>"#))
    }
}
