import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The contents of the consent page: everything that the owner and the developer have registered.
struct ConsentPageTests {
    private static let words =
        "# Lightbox\n\nKeeps **copies** of\n\n- albums\n- [pictures](https://lightbox.example/what)"

    // Name, logo, permissions, the client's text, privacy policy and terms, before
    // the buttons.
    @Test func `the page shows everything that is registered for the client`() async throws {
        let test = try await TestServer()
        let logo = Logo(format: .png, bytes: Array("a picture".utf8))
        var client = try await test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/cb"], publisher: "Darkroom AS", consentText: Self.words,
            privacyURI: "https://darkroom.example/privacy", termsURI: "https://terms.darkroom.example:8443/")
        client = try #require(try await test.store.client(client.id))
        #expect(try await test.store.updateClient(client, logo: .replace(logo)) == .updated)
        let (_, reply) = try await Attempt(test, by: client, at: "http://127.0.0.1:4000/cb").afterSignIn()
        let page = try reply.consentPage
        #expect(page.clientLogo == "/logos/\(logo.id)")
        #expect(page.privacy == .init(address: "https://darkroom.example/privacy", host: "darkroom.example"))
        #expect(
            page.terms == .init(address: "https://terms.darkroom.example:8443/", host: "terms.darkroom.example:8443"))
        let text = try #require(page.clientText?.description)
        #expect(text.contains("<strong>copies</strong>"))
        #expect(text.contains("<li>albums"))
        #expect(text.contains("href=\"https://lightbox.example/what\""))

        let html = try reply.html()
        #expect(html.contains("Written by <bdi>Darkroom</bdi>, not by <bdi>Example Photos</bdi>"))
        #expect(html.contains("<img src=\"/logos/\(logo.id)\" alt=\"\">"))
        #expect(
            html.contains(
                "<a href=\"https://darkroom.example/privacy\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">"))
        #expect(html.contains("<bdi>(darkroom.example)</bdi>"))
        #expect(html.contains("See your photos and albums"))
        let (words, answer) = (html.range(of: "<strong>copies"), html.range(of: "value=\"allow\""))
        #expect(try #require(words).lowerBound < #require(answer).lowerBound)
    }

    // Without registered texts there are no empty elements.
    @Test func `the page of a client without texts has no empty elements`() async throws {
        let (_, reply) = try await Attempt(try await TestServer()).afterSignIn()
        let html = try reply.html()
        for absent in ["class=\"words\"", "target=\"_blank\"", "badge new", "class=\"note", "checkbox"] {
            #expect(!html.contains(absent))
        }
    }

    // The scopes, the API that gets access, the client, the redirect URI, and the lifetime.
    @Test(arguments: [
        (nil, "It is valid at <bdi>Example Photos</bdi>."),
        ("https://api.photos.example/v1", "It is valid at: <bdi>api.photos.example</bdi>"),
        ("photo-api", "It is valid at: <bdi>photo-api</bdi>"),
    ])
    func `the page names the API, the redirect URI and the lifetime`(audience: String?, sentence: String) async throws {
        let test = try await TestServer { if let audience { $0.defaultAudience = audience } }
        var policy = ClientPolicy.standard(for: .native)
        policy.accessTokenLifetime = 300
        let client = try await test.register(
            "Darkroom", redirectURIs: ["https://darkroom.example/cb"], policy: policy)
        let (_, reply) = try await Attempt(test, by: client, at: "https://darkroom.example/cb").afterSignIn()
        #expect(
            try reply.consentPage.lifetime == "Darkroom keeps this access for 5 minutes, then has to ask you again.")
        let html = try reply.html()
        #expect(html.contains(sentence))
        #expect(html.contains("<b><bdi>darkroom.example</bdi></b>"))
    }

    // A refresh token extends the access beyond any access token.
    @Test(arguments: [
        ("photos.read offline_access", RefreshTokenPolicy.offlineAccess, true), ("photos.read", .always, true),
        ("photos.read", .offlineAccess, false), ("photos.read offline_access", .never, false),
    ])
    func `a user who grants a refresh token reads for how long`(
        scope: String, refreshTokens: RefreshTokenPolicy, stays: Bool
    ) async throws {
        let test = try await TestServer()
        var policy = ClientPolicy.standard(for: .native)
        policy.refreshTokens = refreshTokens
        policy.refreshTokenLife.idleLifetime = 7 * 86_400
        let client = try await test.register(
            "Darkroom", redirectURIs: ["https://darkroom.example/cb"], scope: scope, policy: policy)
        let (_, reply) = try await Attempt(test, by: client, at: "https://darkroom.example/cb", for: scope)
            .afterSignIn()
        #expect(
            try reply.consentPage.lifetime
                == (stays
                    ? "Darkroom keeps this access for up to 180 days. It ends sooner if you remove it, or if Darkroom doesn't use it for 7 days."
                    : "Darkroom keeps this access for one hour, then has to ask you again."))
    }

    // The permissions come before the developer's text, and the note on revocation after the buttons.
    @Test func `the developer's text is below the permissions`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/cb"], consentText: "We keep a copy.")
        let (_, reply) = try await Attempt(test, by: client, at: "http://127.0.0.1:4000/cb").afterSignIn()
        let html = try reply.html()
        let places = try ["class=\"permissions\"", "We keep a copy.", "value=\"allow\"", "under Connected apps."].map {
            try #require(html.firstRange(of: $0)).lowerBound
        }
        #expect(places == places.sorted())
    }

    // The developer's statements are unverified, and the page says so.
    @Test func `the page warns about an unverified client`() async throws {
        let test = try await TestServer()
        let warning = "<bdi>Example Photos</bdi> has not verified who makes <bdi>Darkroom</bdi>."
        let known = "Publisher verified by <bdi>Example Photos</bdi>"
        let client = try await test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/cb"], publisher: "A Large Bank",
            policy: ClientPolicy(requiresState: false))
        let attempt = Attempt(test, by: client, at: "http://127.0.0.1:4000/cb")
        let (_, stranger) = try await attempt.afterSignIn()
        #expect(try !stranger.consentPage.isVouchedFor)
        #expect(try stranger.html().contains(warning))
        #expect(try !stranger.html().contains(known))
        try await test.change(client) { $0.policy.isVouchedFor = true }
        let (_, checked) = try await attempt.afterSignIn()
        #expect(try checked.html().contains(known))
        #expect(try !checked.html().contains(warning))
    }

    // In the user's language; the texts of the owner and the developer stay unchanged.
    @Test func `the page is in the language of the user`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        browser.fields = [.acceptLanguage: "de"]
        let first = try await browser.open(Attempt(test, for: "openid photos.read").url)
        let page = try await browser.signIn(on: first, username: "alice", password: TestServer.password).consentPage
        #expect(page.permissions.map(\.title) == ["Sie anmelden", "See your photos and albums"])
    }
}
