import Foundation
import TestSupport
import Testing

/// The origins of single-page clients on the command line.
@Suite(.timeLimit(.minutes(10)))
struct ClientOriginCommandTests {
    @Test func `a single-page app has origins`() async throws {
        try await Site.make { site in
            let created = try await site.administer([
                "app", "create", "--type", "spa", "--name", "Gallery", "--redirect-uri", "https://app.example.com/cb",
                "--origin", "https://app.example.com", "--origin", "https://beta.example.com", "--json",
            ])
            let client = try ClientCommandTests.object(created.output)
            #expect(
                client["origins"] as? [String] == ["https://app.example.com", "https://beta.example.com"])
            #expect(client["access_token_lifetime"] as? Int == 600)
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
            let client = try ClientCommandTests.object(created.output)
            #expect(client["origins"] as? [String] == ["https://app.example.com"])
            let id = try #require(client["client_id"] as? String)
            let moved = try await site.administer([
                "app", "edit", id, "--redirect-uri", "https://beta.example.com/cb", "--claimed-https-verified",
                "--json",
            ])
            #expect(try ClientCommandTests.object(moved.output)["origins"] as? [String] == ["https://beta.example.com"])
            #expect(try ClientCommandTests.object(moved.output)["claimed_https_verified"] as? Bool == true)
            let local = try await site.administer(["app", "edit", id, "--origin", "http://localhost:*"])
            #expect(local.output.contains("  origin: http://localhost:* (any port)\n"))
            let refused = try await site.administer(["app", "edit", id, "--origin", "http://localhost:5173/"])
            #expect(refused.status == 3)
            #expect(refused.errors.contains("http://localhost:5173/ is not an origin."))
        }
    }
}
