import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// The texts of the service on the consent page, beside those of the client.
struct SiteStatementTests {
    private static func serve(_ statements: [Language: SiteStatement]) async throws -> TestServer {
        let test = try await TestServer()
        #expect(try await test.store.updateBranding(Branding(statements: statements), logo: .keep) == .updated)
        return test
    }

    @Test func `the consent page shows the texts of the service in their own frame`() async throws {
        let test = try await Self.serve([
            .english: SiteStatement(
                text: "Only *employees*. <script>alert(1)</script>",
                privacyURI: try AbsoluteURI(parsing: "https://example.com/privacy"))
        ])
        let client = try await test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/cb"], consentText: "Trust **us**.",
            privacyURI: "https://darkroom.example/privacy")
        let (_, reply) = try await Attempt(test, by: client, at: "http://127.0.0.1:4000/cb").afterSignIn()
        let page = try reply.consentPage
        #expect(page.siteWords?.description.contains("<em>employees</em>") == true)
        #expect(page.siteWords?.description.contains("script") == false)
        #expect(page.sitePrivacy == .init(address: "https://example.com/privacy", host: "example.com"))
        // A name is isolated from the surrounding text.
        let html = try reply.html().replacing("<bdi>", with: "").replacing("</bdi>", with: "")
        let ours = try #require(html.range(of: "Written by Example Photos"))
        let theirs = try #require(html.range(of: "Written by Darkroom, not by Example Photos"))
        #expect(ours.lowerBound < theirs.lowerBound)
        #expect(html.contains("Privacy policy of Example Photos"))
        #expect(html.contains("Privacy policy of Darkroom"))
        #expect(html.ranges(of: "https://example.com/privacy").count == 1)
    }

    @Test(arguments: [("nb", "Bare ansatte", "nb"), ("de", "Only employees", "en"), ("en", "Only employees", "en")])
    func `a text that a language lacks is taken from the default language`(
        locale: String, text: String, policy: String
    ) async throws {
        let test = try await Self.serve([
            .english: SiteStatement(
                text: "Only employees", privacyURI: try AbsoluteURI(parsing: "https://example.com/en")),
            .norwegian: SiteStatement(
                text: "Bare ansatte", privacyURI: try AbsoluteURI(parsing: "https://example.com/nb")),
        ])
        let attempt = Attempt(test).with("ui_locales", locale)
        let (_, reply) = try await attempt.afterSignIn()
        #expect(try reply.consentPage.siteWords?.description.contains(text) == true)
        // WCAG 3.1.2: a text in another language than the page says so.
        let mark = locale == "de" ? "<div lang=\"en\" tabindex=\"0\"" : "<div tabindex=\"0\""
        #expect(try reply.html().contains(mark + " role=\"region\" aria-labelledby=\"site-words\">"))
        #expect(try reply.consentPage.sitePrivacy?.address == "https://example.com/\(policy)")
        let signIn = try await attempt.firstReply()
        #expect(signIn.frame?.site.privacyURI == "https://example.com/\(policy)")
        #expect(try signIn.html().ranges(of: "https://example.com/\(policy)").count == 1)
    }

    @Test func `without the default language a text is shown in its own language only`() async throws {
        let test = try await Self.serve([.norwegian: SiteStatement(text: "Bare ansatte")])
        #expect(try await Attempt(test).consentPage().siteWords == nil)
        #expect(try await Attempt(test).with("ui_locales", "nn").consentPage().siteWords != nil)
    }
}
