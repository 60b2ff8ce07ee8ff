import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// A `client_id` that an administrator chooses for a client migrated from another server.
struct ChosenClientIdentifierTests {
    // RFC 6749 §2.2
    @Test(arguments: [
        "native-2746fSDgdgTAWsKE", "1000.R2K7A2NQIYQZ4I8B0UEUOQUVWYXZAB", "0oa2hl2inow5Uqc6c357", "a", "0", "_",
        "e3f5a1f0-1c5a-4a8e-9a52-0f1b1f3d5e10", "1234-abc.apps.example.com", "app_lightbox", "~x",
        String(repeating: "a", count: 128), "https://app.example.com/client.json",
    ])
    func `identifiers of other servers are kept unchanged`(text: String) throws {
        #expect(try ChosenClientIdentifier(text, beside: ServerPages.console.endpoints).id.rawValue == text)
    }

    @Test(arguments: [
        ("", ChosenClientIdentifier.Refusal.length), (String(repeating: "a", count: 129), .length),
        ("https://app.example.com", .url), ("http://localhost:3000/", .url), ("https://127.0.0.1/client", .url),
        ("https://a@app.example.com/client", .url), ("https://app.example.com/client#a", .url),
        ("https://app.example.com/../client", .url), ("https://app.example.com/é", .url),
        ("a b", .character), ("a/b", .character), ("a%2Fb", .character), ("a?b", .character), ("a#b", .character),
        ("a:b", .character), ("a+b", .character), ("a&b=c", .character), ("a\nb", .character), ("\u{7F}", .character),
        ("é", .character), ("<script>", .character), ("a\"b", .character), ("*", .character),
        ("{client_id}", .character),
        (".", .path), ("..", .path), ("...", .path), ("new", .path), ("verdict", .path),
        ("per_alice", .reserved(prefix: "per_")), ("api_photos", .reserved(prefix: "api_")),
    ])
    func `an identifier with reserved characters is refused`(text: String, why: ChosenClientIdentifier.Refusal) {
        #expect(throws: why) { try ChosenClientIdentifier(text, beside: ServerPages.console.endpoints) }
        #expect(!"\(why)".isEmpty)
    }

    // The route table finds the pages of a client for each identifier that can be chosen.
    @Test func `the pages of a client with a chosen identifier are found`() async throws {
        let test = try await TestServer()
        for text in ["native-2746fSDgdgTAWsKE", "1000.R2K7", "~x", "apps", "New"] {
            let id = try ChosenClientIdentifier(text, beside: ServerPages.console.endpoints).id
            for path in ["/apps/\(text)", "/account/apps/\(text)", "/callback/\(text)", "/apps/\(text)/edit"] {
                let route = try #require(test.server.routing.routes.route(path), "\(path)")
                #expect(route.parameters.clientID == id)
            }
        }
    }
}
