import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@testable import CounterfoilPages
@testable import CounterfoilWeb

/// A page gets `script-src` in its Content-Security-Policy exactly if it loads a script.
struct PageScriptTests {
    /// The scripts that a document loads.
    private static func scripts(of page: any Page) throws -> [String] {
        let frame = Frame(site: Site(name: "Example Photos"))
        let html = String(decoding: try PageRenderer(pages: .console).render(page, in: frame), as: UTF8.self)
        let loaded = html.matches(of: /<script src="([^"]*)" defer><\/script>/).map { String($0.output.1) }
        #expect(html.components(separatedBy: "<script").count - 1 == loaded.count, "no other kind of script")
        return loaded
    }

    private static func expectAgreement(_ page: any Page) throws {
        let policy = ResponseFields.policy(of: ResponseFields.Content(page))
        let scripts = try scripts(of: page)
        #expect(scripts == (page.script.map { [$0.asset.path] } ?? []))
        #expect(policy.contains("script-src 'self'") == !scripts.isEmpty, "\(policy)")
        #expect(policy.contains("connect-src 'self'") == (page.script == .interactive), "\(policy)")
    }

    // Only the server's own script, and only on pages that use it.
    @Test(arguments: [
        "/account", "/account/sessions", "/account/password", "/apps", "/apps/new", "/apps/new?type=native",
        "/apps/app_lightbox", "/apps/app_lightbox/edit", "/apps/app_lightbox/connect", "/apps/app_lightbox/logo",
        "/apps/app_lightbox/policy", "/apps/app_lightbox/delete", "/apps/app_nightly/secrets", "/admin",
        "/admin/branding", "/admin/audit", "/apps/app_nothing", "/oauth2/logout", "/setup",
    ])
    func `the policy of a page matches the script that it loads`(address: String) async throws {
        let test = try await TestServer()
        _ = try await test.addService()
        _ = try await test.addUser("ada", role: .administrator)
        var browser = test.browser()
        try await browser.signInToConsole(username: "ada")
        guard let page = try await browser.open(address).page else {
            Issue.record("\(address) is no page")
            return
        }
        try Self.expectAgreement(page)
    }

    @Test func `the policy of a page that continues automatically matches its script`() throws {
        var posted = ReturnPage(
            clientName: "Lightbox", destination: "https://app.example/cb", kind: .allowed(codeLifetime: 60))
        try Self.expectAgreement(posted)
        posted.fields = [ReturnPage.Field(name: "code", value: "c")]
        try Self.expectAgreement(posted)
        #expect(posted.script == .proceed)
        posted.host = "app.example"
        try Self.expectAgreement(posted)
        #expect(posted.script == nil)
        // A form from another site comes without the cookie, and this page sends it.
        let asking = SignOutPage(userDisplayName: nil, action: "/oauth2/logout/answer", request: "state=s", ticket: "")
        try Self.expectAgreement(asking)
        #expect(asking.script == .proceed)
    }

    // A browser that is too old for the console must still continue automatically.
    @Test func `the script of pages that continue automatically uses the oldest syntax`() {
        let script = String(decoding: Asset.goOnScript.bytes, as: UTF8.self)
        for newer in ["=>", "let ", "const ", "`", "?.", "class ", "async ", "querySelector", "...", "for (var i of"] {
            #expect(!script.contains(newer), "\(newer)")
        }
        #expect(script.contains("submit()"))
        #expect(script.utf8.count < 600)
        #expect(!String(decoding: Asset.script.bytes, as: UTF8.self).contains("data-goes-on"))
    }
}
