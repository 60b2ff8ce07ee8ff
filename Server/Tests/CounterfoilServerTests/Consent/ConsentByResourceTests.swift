import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Consent to access one API does not cover another (RFC 8707, RFC 8252 §8.6).
struct ConsentByResourceTests {
    private static let first = "https://first.example.com"
    private static let second = "https://second.example.com"

    private let test: TestServer
    private let client: RegisteredClient

    init() async throws {
        test = try await TestServer()
        for uri in [Self.first, Self.second] { _ = try await test.addAPI(uri, scope: "photos.read photos.write") }
        client = try await test.register(
            "Album", type: .web, at: ["https://album.example/cb"],
            under: ClientPolicy(isVouchedFor: true, requiresState: false), secret: ClientSecret())
    }

    private func attempt(_ scope: String, at resources: String...) -> Attempt {
        var attempt = Attempt(test, by: client, at: "https://album.example/cb", for: scope)
        for resource in resources { attempt = attempt.adding("resource", resource) }
        return attempt
    }

    // Allowed at one API, and asked about at another, marked as new; the claims about the user stay allowed.
    @Test func `a scope that was allowed at one API is asked about at another`() async throws {
        var browser = test.browser()
        _ = try await attempt("openid photos.read", at: Self.first).authorize(with: &browser)
        #expect(try await browser.open(attempt("openid photos.read", at: Self.first).url).status == .seeOther)
        #expect(try await browser.open(attempt("openid").url).status == .seeOther)
        for elsewhere in [
            attempt("openid photos.read", at: Self.second),
            attempt("openid photos.read", at: Self.first, Self.second),
        ] {
            #expect(
                try await browser.open(elsewhere.with("prompt", "none").url).redirectedError.code == .consentRequired)
            let page = try await browser.open(elsewhere.url).consentPage
            #expect(page.permissions.map(\.isNew) == [true])
            #expect(page.allowedBefore.map(\.scope) == ["openid"])
            #expect(page.earlierConsent == "You allowed some of this on 15 January 2027.")
        }
        #expect(try await browser.open(attempt("photos.write", at: Self.first).url).consentPage.resources.count == 1)
    }

    // Each decision is stored for its API.
    @Test func `consents at several APIs add up`() async throws {
        var browser = test.browser()
        let both = attempt("photos.read", at: Self.first, Self.second)
        _ = try await both.authorize(with: &browser)
        for remembered in [both, attempt("photos.read", at: Self.first), attempt("photos.read", at: Self.second)] {
            #expect(try await browser.open(remembered.url).status == .seeOther)
        }
        _ = try await browser.decide(.allow, on: try await browser.open(attempt("photos.write", at: Self.second).url))
        #expect(try await browser.open(attempt("photos.write", at: Self.second).url).status == .seeOther)
        #expect(try await browser.open(attempt("photos.write", at: Self.first).url).status == .ok)
    }

    // The page names the APIs that get access.
    @Test func `the page names the APIs`() async throws {
        let (_, reply) = try await attempt("photos.read", at: Self.first, Self.second).afterSignIn()
        #expect(
            try reply.consentPage.resources.map(\.description)
                == ["Photo library (first.example.com)", "Photo library (second.example.com)"])
        let html = try reply.html()
        #expect(html.contains("<bdi>Photo library (first.example.com)</bdi>"))
        #expect(html.contains("<bdi>Photo library (second.example.com)</bdi>"))
        let (_, plain) = try await attempt("openid").afterSignIn()
        #expect(try plain.html().contains("It is valid at <bdi>Example Photos</bdi>."))
    }

    // An API without any grant is removed from the consent.
    @Test func `revocation at one API keeps the consent at the other`() async throws {
        var browser = test.browser()
        _ = try await attempt("photos.read", at: Self.first).authorize(with: &browser)
        let grant = try #require(
            try await test.store.code(
                ArtefactDigest(
                    of: try await browser.decide(
                        .allow, on: try await browser.open(attempt("photos.read", at: Self.second).url)
                    ).code)))
        _ = try await test.store.revokeGrant(grant.grant.id, because: .client, at: test.clock.now)
        #expect(try await browser.open(attempt("photos.read", at: Self.first).url).status == .seeOther)
        #expect(try await browser.open(attempt("photos.read", at: Self.second).url).status == .ok)
    }
}
