import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import TestSupport
import Testing

/// The logo of a client, from upload to download.
struct ClientLogoFormTests {
    private static func upload(_ page: LogoPage, _ file: [UInt8], decision: String = "replace")
        -> ScriptedUserAgent.Upload
    {
        ScriptedUserAgent.Upload(
            FormParameters(["ticket": page.ticket, "revision": String(page.revision), "decision": decision]),
            fileField: "logo", file: file)
    }

    // The image is encoded again and served under a URL that changes with it.
    @Test func `a logo is shown, replaced and removed`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Developer.form(redirectURIs: "http://127.0.0.1/callback"))
        let page = try await developer.browser.open("/apps/\(client.id)/logo").logoPage
        let picture = Array(Drawing.sunrise.png())
        let shown = try await developer.browser.submit(Self.upload(page, picture), to: page.action).clientPage
        let address = try #require(shown.client.logo)
        let served = try await developer.browser.send(.get, to: address)
        guard case .image(let logo) = served.content else {
            Issue.record("no picture")
            return
        }
        #expect(logo.bytes.count <= Logo.byteLimit)
        #expect(logo.bytes != picture)
        #expect(served.fields[.cacheControl]?.contains("immutable") == true)
        let consent = try await developer.browser.open(Attempt(test, by: client).url).consentPage
        #expect(consent.clientLogo == address)

        let again = try await developer.browser.open("/apps/\(client.id)/logo").logoPage
        let removed = try await developer.browser.submit(
            Self.upload(again, [], decision: "remove"), to: again.action
        ).clientPage
        #expect(removed.client.logo == nil)
        #expect(try await developer.browser.send(.get, to: address).status == .notFound)
    }

    // Only PNG and JPEG files are accepted.
    @Test(arguments: ["<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>", "GIF89a", "<script>", ""])
    func `another kind of file is refused with a reason`(content: String) async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered()
        let page = try await developer.browser.open("/apps/\(client.id)/logo").logoPage
        let reply = try await developer.browser.submit(Self.upload(page, Array(content.utf8)), to: page.action)
        #expect(reply.status == .badRequest)
        #expect(try reply.logoPage.logo.problem != nil)
        #expect(try await test.store.client(client.id)?.presentation.logo == nil)
    }
}
