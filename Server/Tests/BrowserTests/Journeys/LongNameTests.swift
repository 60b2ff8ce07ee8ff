import TestSupport
import Testing

/// Lists with names that are longer than a column.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct LongNameTests {
    private static let names = [
        "Donaudampfschifffahrtsgesellschaftsverwaltungsportal", String(repeating: "W", count: 60),
    ]

    @Test func `a list with long names breaks no other word, and fits its page at every width`() async throws {
        try await Stage.enter { stage in
            for (number, name) in Self.names.enumerated() {
                let redirectURI = ["--redirect-uri", "http://127.0.0.1/callback"]
                try await stage.site.administer(
                    ["app", "create", "--type", "native", "--name", name] + redirectURI, typing: "")
                let username = String(repeating: "w", count: 60) + "\(number)"
                let email = ["--email", "\(username)@example.com"]
                try await stage.site.administer(
                    ["user", "create", username, "--display-name", name, "--password-stdin"] + email,
                    typing: Account.grace.password + "\n")
            }
            try await stage.open("/admin", as: .grace)
            for path in ["/admin/apps", "/admin/users"] {
                try await stage.open(path)
                for width in [390, 640, 1024, 1280, 1920] {
                    try await stage.browser.emulateScreen(width: width, height: 900)
                    #expect(try await PageAudit.findings(in: stage.browser) == [], "\(path), \(width)")
                }
            }
        }
    }
}
