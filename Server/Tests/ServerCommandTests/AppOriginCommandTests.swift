import Foundation
import TestSupport
import Testing

/// The origins of single-page clients on the command line.
@Suite(.timeLimit(.minutes(10)))
struct AppOriginCommandTests {
    @Test func `a single-page app has origins`() async throws {
        try await Site.make { site in
            let created = try await site.administer([
                "app", "create", "--type", "spa", "--name", "Gallery", "--redirect-uri", "https://app.example.com/cb",
                "--origin", "https://app.example.com", "--origin", "https://beta.example.com", "--json",
            ])
            let application = try AppCommandTests.object(created.output)
            #expect(
                application["origins"] as? [String] == ["https://app.example.com", "https://beta.example.com"])
            #expect(application["access_token_lifetime"] as? Int == 600)
        }
    }

    @Test func `the origins of a single-page app follow from its redirect URIs and can stand for any port`()
        async throws
    {
        try await Site.make { site in
            let created = try await site.administer([
                "app", "create", "--type", "spa", "--name", "Gallery", "--redirect-uri", "https://app.example.com/cb",
                "--json",
            ])
            let application = try AppCommandTests.object(created.output)
            #expect(application["origins"] as? [String] == ["https://app.example.com"])
            let id = try #require(application["client_id"] as? String)
            let moved = try await site.administer([
                "app", "edit", id, "--redirect-uri", "https://beta.example.com/cb", "--claimed-https-verified",
                "--json",
            ])
            #expect(try AppCommandTests.object(moved.output)["origins"] as? [String] == ["https://beta.example.com"])
            #expect(try AppCommandTests.object(moved.output)["claimed_https_verified"] as? Bool == true)
            let local = try await site.administer(["app", "edit", id, "--origin", "http://localhost:*"])
            #expect(local.output.contains("  origin: http://localhost:* (any port)\n"))
            let refused = try await site.administer(["app", "edit", id, "--origin", "http://localhost:5173/"])
            #expect(refused.status == 3)
            #expect(refused.errors.contains("http://localhost:5173/ is not an origin."))
        }
    }
}
