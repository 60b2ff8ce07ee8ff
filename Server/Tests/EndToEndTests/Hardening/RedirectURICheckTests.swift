import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The command line and a running server give the same verdict on redirect URIs.
@Suite(.timeLimit(.minutes(10)))
struct RedirectURICheckTests {
    /// The number of redirect URIs per client; each one starts a program.
    private static let enough = 32

    // Compares `app check` with /oauth2/authorize for every kind of redirect URI.
    @Test(
        arguments: [
            ["http://127.0.0.1/callback"], ["http://127.0.0.1:4000/callback?a=1", "http://[::1]/callback"],
            ["http://localhost/callback", "http://localhost:4000/"],
            ["https://app.example/callback?tenant=1", "https://app.example:8443/callback"],
            ["com.example.lightbox:/callback", "com.example.lightbox:/callback?a=1"],
            ["vscode://example.lightbox/callback", "https://app.example", "http://127.0.0.1/cb"],
        ])
    func `the check and the authorization endpoint always agree`(registered: [String]) async throws {
        try await expectAgreement(registered, type: "native")
    }

    // Of development redirect URIs, too.
    @Test func `the check and the authorization endpoint agree about a web client`() async throws {
        try await expectAgreement(
            ["http://localhost:5173/callback", "http://127.0.0.1/callback", "https://app.example/callback"],
            type: "web")
    }

    private func expectAgreement(_ registered: [String], type: String) async throws {
        try await Site.run { site, _ in
            let created = try await site.administer(
                [
                    "app", "create", "--type", type, "--name", "Darkroom", "--scope", "photos.read", "--json",
                ]
                    + registered.flatMap { uri in
                        [uri.hasPrefix("vscode:") ? "--legacy-redirect-uri" : "--redirect-uri", uri]
                    })
            let client = try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: Any]
            let id = try #require(client?["client_id"] as? String, "\(created.errors)")
            var random = SeededGenerator(seed: UInt64(registered[0].utf8.count))
            // The registered redirect URIs and every single change first; then combinations of two changes.
            var tried = registered + (0..<Change.count).map { Change.apply($0, to: registered[0], site, &random) }
            while tried.count < Self.enough {
                var text = registered.randomElement(using: &random) ?? registered[0]
                for _ in 0..<2 {
                    text = Change.apply(Int.random(in: 0..<Change.count, using: &random), to: text, site, &random)
                }
                tried.append(text)
            }
            var browser = UserAgent()
            var matched = 0
            for uri in tried {
                let check = try await site.administer(["app", "check", id, uri])
                let request = FormParameters([
                    "response_type": "none", "client_id": id, "redirect_uri": uri, "scope": "photos.read",
                ])
                let answer = try await browser.send(.get, site.issuer + "/oauth2/authorize?" + request.encoded)
                // A matching redirect URI gets a redirect with the error that the response type is not
                // supported.
                let what = "\(uri.debugDescription) of \(registered)"
                #expect((check.status == 0) == (answer.status == 303), "\(what)")
                #expect((check.status == 1) == (answer.status == 400), "\(what)")
                #expect(check.output.hasPrefix(check.status == 0 ? "matches " : "does not match: "), "\(what)")
                if check.status == 0 {
                    matched += 1
                    #expect(answer.header("location")?.hasPrefix(uri) == true, "\(what)")
                }
            }
            #expect(matched >= registered.count)
        }
    }
}

/// Changes to a redirect URI, as by an attacker or a typing error.
private enum Change {
    static let count = 14

    static func apply(_ number: Int, to text: String, _ site: Site, _ random: inout SeededGenerator) -> String {
        let hosts = ["127.0.0.1", "[::1]", "localhost", "app.example"]
        switch number {
        case 0: return text + "/"
        case 1: return text.uppercased()
        case 2: return text + (text.contains("?") ? "&x=1" : "?x=1")
        case 3: return text + "#x"
        case 4: return text.replacing("http:", with: "https:")
        case 5: return text.replacing("https:", with: "http:")
        case 6: return text.replacing("127.0.0.1", with: "localhost")
        case 7: return text.replacing("localhost", with: "[::1]")
        case 8: return text.replacing("callback", with: "%63allback")
        case 9: return text.replacing("://", with: "://me@")
        case 10: return text.replacing("app.example", with: "app.example.evil.example")
        case 11: return text.replacing(":/", with: ["://", ":", ":///"].randomElement(using: &random) ?? ":")
        case 12:
            // The ports include that of the server itself.
            let port = [80, 443, 8443, 51004, site.port].randomElement(using: &random) ?? 80
            return hosts.reduce(text) { $0.replacing("\($1)/", with: "\($1):\(port)/") }
        default:
            var changed = text
            let place = text.index(text.startIndex, offsetBy: Int.random(in: 1...text.count, using: &random))
            changed.insert("a%:/?#[]@!*\\ é\n.0".randomElement(using: &random) ?? "a", at: place)
            return changed
        }
    }
}
