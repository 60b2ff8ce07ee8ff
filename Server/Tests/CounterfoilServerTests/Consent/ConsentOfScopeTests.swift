import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Consent to a request whose API follows from its scope (RFC 9068 §3).
struct ConsentOfScopeTests {
    private static let api = "https://photos.example.com"
    private static let server = "https://id.example.com"

    /// Creates a client whose consents are remembered.
    private static func client(_ test: TestServer, optional: String = "") async throws -> RegisteredClient {
        try await test.register(
            "Album", type: .web, redirectURIs: ["https://album.example/cb"], optionalScope: optional)
    }

    private static func attempt(
        _ test: TestServer, by client: RegisteredClient, for scope: String, at resources: String...
    ) -> Attempt {
        var attempt = Attempt(test, by: client, at: "https://album.example/cb", for: scope)
        for resource in resources { attempt = attempt.adding("resource", resource) }
        return attempt
    }

    // The name of the API and that of the service, as the owner has set it.
    @Test func `the page names the API of the scope, and the service by its name`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI(Self.api)
        let client = try await Self.client(test)
        #expect(try await test.store.updateBranding(Branding(siteName: "Acme Pictures"), logo: .keep) == .updated)
        let both = ["Photo library (photos.example.com)", "Acme Pictures"]
        for (attempt, names) in [
            (Self.attempt(test, by: client, for: "openid photos.read"), both),
            (Self.attempt(test, by: client, for: "openid photos.read", at: Self.api, Self.server), both),
            (Self.attempt(test, by: client, for: "photos.read"), [both[0]]),
            (Self.attempt(test, by: client, for: "openid", at: Self.server), []),
            (Self.attempt(test, by: client, for: "openid"), []),
        ] {
            let (_, reply) = try await attempt.afterSignIn()
            #expect(try reply.consentPage.resources.map(\.description) == names)
            let html = try reply.html()
            for name in names { #expect(html.contains("It is valid at: <bdi>\(name)</bdi>")) }
            #expect(html.contains("It is valid at <bdi>Acme Pictures</bdi>.") == names.isEmpty)
        }
        let device = try await TestDevice(test)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.type(
            userCode: try await device.codes(["scope": "openid photos.read"]).userCode
        ).consentPage
        #expect(page.resources.map(\.description) == both)
    }

    @Test func `the page names the API with the default audience`() async throws {
        let test = try await TestServer { $0.defaultAudience = Self.api }
        let client = try await Self.client(test)
        func names() async throws -> [String] {
            try await Self.attempt(test, by: client, for: "photos.read").consentPage().resources.map(\.description)
        }
        #expect(try await names() == ["photos.example.com"])
        _ = try await test.addAPI(Self.api)
        #expect(try await names() == ["Photo library (photos.example.com)"])
    }

    // The same access is not asked about again, however the request states it.
    @Test func `what was allowed for the API of a scope is remembered for a request that names it`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI(Self.api)
        let client = try await Self.client(test)
        let requests = [
            Self.attempt(test, by: client, for: "openid photos.read"),
            Self.attempt(test, by: client, for: "openid photos.read", at: Self.api),
            Self.attempt(test, by: client, for: "openid photos.read", at: Self.api, Self.server),
        ]
        for first in requests {
            var browser = test.browser()
            _ = try await first.with("prompt", "consent").authorize(with: &browser)
            for again in requests + [Self.attempt(test, by: client, for: "photos.read")] {
                #expect(try await browser.open(again.with("prompt", "none").url).code.exposed.isEmpty == false)
            }
            let more = Self.attempt(test, by: client, for: "openid photos.read photos.write")
            let page = try await browser.open(more.url).consentPage
            #expect(page.permissions.map(\.scope) == ["photos.write"])
            #expect(page.permissions.map(\.isNew) == [true])
            #expect(page.allowedBefore.map(\.scope) == ["openid", "photos.read"])
            // The next request starts without a consent.
            _ = try await test.store.narrowConsent(
                of: test.alice.id, to: client.id, keeping: Scope(), at: test.clock.now)
        }
    }

    // The owner registers the API of a scope that users have allowed before.
    @Test func `what was allowed without an API is not asked about again for the API of the scope`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test)
        let attempt = Self.attempt(test, by: client, for: "openid photos.read")
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)
        _ = try await test.addAPI(Self.api)
        #expect(try await browser.open(attempt.with("prompt", "none").url).code.exposed.isEmpty == false)
        #expect(try await browser.open(attempt.url).status == .seeOther)
        #expect(
            try await test.store.consent(of: test.alice.id, to: client.id)?.rememberedAt
                == [try Resource(Self.api): try Scope(parsing: "photos.read")])
    }

    // A request that names the API asks; the permission is one that the user knows.
    @Test func `what was allowed without an API is not new where the request names one`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test)
        var browser = test.browser()
        _ = try await Self.attempt(test, by: client, for: "openid photos.read").authorize(with: &browser)
        _ = try await test.addAPI(Self.api)
        let named = Self.attempt(test, by: client, for: "openid photos.read photos.write", at: Self.api)
        let page = try await browser.open(named.url).consentPage
        #expect(page.permissions.map(\.scope) == ["photos.read", "photos.write"])
        #expect(page.permissions.map(\.isNew) == [false, true])
        #expect(page.earlierConsent == "You allowed some of this on 15 January 2027.")
    }

    // Consent for one API is not consent for another, whichever has the default audience.
    @Test func `what was allowed for the default API is asked about for another API with the scope`() async throws {
        let test = try await TestServer { $0.defaultAudience = Self.api }
        _ = try await test.addAPI(Self.api, scope: "photos.read")
        let client = try await Self.client(test)
        var browser = test.browser()
        _ = try await Self.attempt(test, by: client, for: "photos.read").authorize(with: &browser)
        _ = try await test.addAPI("https://upload.example.com", scope: "photos.read photos.write")
        let both = Self.attempt(test, by: client, for: "photos.read photos.write")
        let page = try await browser.open(both.url).consentPage
        #expect(page.permissions.map(\.scope) == ["photos.read", "photos.write"])
    }

    // The last answer counts, also if the first one was about no API.
    @Test(arguments: [false, true])
    func `a scope that was declined for its API is asked about again`(isNamed: Bool) async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, optional: "photos.read")
        let attempt = Self.attempt(test, by: client, for: "openid photos.read")
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)
        _ = try await test.addAPI(Self.api)
        let second = isNamed ? attempt.adding("resource", Self.api) : attempt
        let asked = try await browser.open(second.with("prompt", "consent").url)
        #expect(try await browser.decide(.allow, on: asked, leavingOut: ["photos.read"]).code.exposed.isEmpty == false)
        #expect(try await browser.open(attempt.with("prompt", "none").url).redirectedError.code == .consentRequired)
        #expect(try await browser.open(attempt.url).consentPage.permissions.map(\.scope) == ["photos.read"])
    }

    // The answer is for the APIs of the page.
    @Test func `an API that is registered while the user decides is asked about again`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test)
        let attempt = Self.attempt(test, by: client, for: "photos.read")
        var (browser, reply) = try await attempt.afterSignIn()
        _ = try await test.addAPI(Self.api)
        let answer = try await browser.decide(.allow, on: reply)
        #expect((try? answer.code) == nil)
        reply = try await browser.open(attempt.url)
        #expect(try reply.consentPage.resources.map(\.description) == ["Photo library (photos.example.com)"])
    }
}
