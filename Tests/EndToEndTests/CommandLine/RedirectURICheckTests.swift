import CounterfoilProtocol
import HTTPTypes
import Testing

/// The command line and a running server give one verdict on redirect URIs.
@Suite(.timeLimit(.minutes(10)))
struct RedirectURICheckTests {
    /// What is done to a registered address, one step after the other, in every combination of two.
    private static let changes: [@Sendable (String) -> String] = [
        { $0 }, { $0 + "/" }, { $0.uppercased() }, { $0.replacing("127.0.0.1", with: "127.0.0.1:51004") },
        { $0.replacing("127.0.0.1", with: "localhost") }, { $0 + "?x=1" }, { $0 + "#x" },
        { $0.replacing("http:", with: "https:") }, { $0.replacing("callback", with: "%63allback") },
    ]

    // R312, AZ-08…AZ-32: `app check` and /oauth2/authorize.
    @Test(arguments: ["http://127.0.0.1/callback", "com.example.lightbox:/callback"])
    func `the check and the endpoint never differ`(registered: String) async throws {
        try await Site.run { site, _ in
            let created = try ApplicationCommandTests.object(
                try await site.administer([
                    "app", "create", "--type", "native", "--name", "Darkroom", "--redirect-uri", registered,
                    "--scope", "photos.read", "--require-state", "false", "--json",
                ]).output)
            let id = try #require(created["client_id"] as? String)
            let tried = Set(Self.changes.flatMap { first in Self.changes.map { $0(first(registered)) } }).sorted()
            var browser = UserAgent()
            for uri in tried {
                let check = try await site.administer(["app", "check", id, uri])
                let request = FormParameters([
                    "response_type": "none", "client_id": id, "redirect_uri": uri, "scope": "photos.read",
                ])
                let answer = try await browser.send(.get, site.issuer + "/oauth2/authorize?" + request.encoded)
                // Who matches is told by a redirect that the response type does not exist.
                #expect((check.status == 0) == (answer.status == 303), "\(uri)")
                #expect((check.status == 1) == (answer.status == 400), "\(uri)")
            }
        }
    }
}
