import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A server whose settings are replaced while it runs.
struct ReplacedSettingsTests {
    private static let callback = "https://darkroom.example/cb"

    @Test func `new settings count from the next request on, and no count begins again`() async throws {
        let test = try await TestServer { $0.approvalsPerMinute = 2 }
        let client = try await test.register("Darkroom", type: .web, redirectURIs: [Self.callback])
        let attempt = Attempt(test, by: client, at: Self.callback)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)

        var settings = test.server.settings
        settings.sessionIdleLifetime = 600
        test.server.replaceSettings(by: settings)
        // The session and the approval from before are known: the second approval is the last one.
        _ = try await browser.open(attempt.url).code
        #expect(try await browser.open(attempt.url).status == .tooManyRequests)

        settings.approvalsPerMinute = 3
        test.server.replaceSettings(by: settings)
        _ = try await browser.open(attempt.url).code
        #expect(try await browser.open(attempt.url).status == .tooManyRequests)

        // The shorter idle time counts for sessions that exist.
        test.clock.advance(by: 700)
        _ = try await browser.open(attempt.url).signInPage
    }

    @Test func `the issuer and the paths of endpoints stay`() async throws {
        let test = try await TestServer()
        var settings = ServerSettings(issuer: try Issuer("https://other.example.com"))
        settings.requiresPushedRequests = true
        let issuer = test.server.settings.issuer
        test.server.replaceSettings(by: settings)
        #expect(test.server.settings.issuer == issuer)
        #expect(test.server.settings.defaultAudience == issuer.rawValue)
        var browser = test.browser()
        let metadata = try await browser.open(issuer.endpoint("/.well-known/oauth-authorization-server"))
        #expect(try metadata.text.contains(#""require_pushed_authorization_requests":true"#))
        #expect(try metadata.text.contains(#""issuer":"\#(issuer.rawValue)""#))
    }
}
