import Foundation
import TestSupport
import Testing

/// `branding`, for scripts and for people, while a server runs.
@Suite(.timeLimit(.minutes(10)))
struct BrandingCommandTests {
    @Test func `the texts of the service are set for each language and shown`() async throws {
        try await Site.make { site in
            // A read-only command creates no data directory.
            #expect(try await site.administer(["branding", "show"]).status == 3)
            try await site.addScope("photos.read", "See your photos and albums")
            #expect(
                try await site.administer(["branding", "show"]).output
                    == "No branding is set. The pages have their default look.\n")
            let file = site.folder.url.appendingPathComponent("words.md")
            try Data("**Only** employees.\n\nAsk the help desk.".utf8).write(to: file)
            let edited = try await site.administer([
                "branding", "edit", "--consent-text", file.path, "--privacy-uri", "https://example.com/privacy",
            ])
            #expect(edited.status == 0)
            #expect(
                edited.output == """
                    privacy policy (en): https://example.com/privacy
                    text (en):
                      **Only** employees.

                      Ask the help desk.

                    """)
            let other = try await site.administer([
                "branding", "edit", "--language", "nb", "--privacy-uri", "https://example.com/personvern", "--json",
            ])
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(other.output.utf8)) as? [String: Any])
            let statements = try #require(document["statements"] as? [String: [String: String]])
            #expect(Set(statements.keys) == ["en", "nb"])
            #expect(statements["nb"] == ["privacy_uri": "https://example.com/personvern"])

            _ = try await site.administer([
                "branding", "edit", "--consent-text", "", "--privacy-uri", "",
            ])
            #expect(
                try await site.administer(["branding", "show"]).output
                    == "privacy policy (nb): https://example.com/personvern\n")
        }
    }

    private static let refused: [(arguments: [String], status: Int32)] = [
        (["--privacy-uri", "http://example.com"], 3), (["--privacy-uri", "https://a@example.com"], 3),
        (["--accent", "red"], 3), ([], 64), (["--name", "N", "--language", "it"], 64),
    ]

    @Test(arguments: refused)
    func `a text that no page can show is refused`(arguments: [String], status: Int32) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["branding", "edit"] + arguments)
            #expect(ended.status == status)
            #expect(ended.output.isEmpty)
        }
    }
}
