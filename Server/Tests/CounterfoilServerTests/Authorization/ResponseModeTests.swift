import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The response mode `fragment` (OAuth 2.0 Multiple Response Type Encoding Practices §2.1).
struct ResponseModeTests {
    /// The parameters behind `separator` in the URL of a response.
    private static func parameters(of reply: Reply, at address: String, behind separator: Character) throws
        -> FormParameters
    {
        let destination = try reply.destination
        try #require(destination.hasPrefix(address + String(separator)))
        return try FormParameters(parsing: String(destination.dropFirst(address.utf8.count + 1)))
    }

    // Where the page or the app gets the whole URL.
    @Test(arguments: [
        (ClientType.singlePage, "https://app.example/cb"), (.singlePage, "https://app.example/cb?tenant=1"),
        (.singlePage, "http://localhost:5173/cb"), (.native, "com.example.app:/cb"),
        (.native, "https://app.example/cb"),
    ])
    func `a client that reads its whole URL gets the response in the fragment`(
        type: ClientType, address: String
    ) async throws {
        let test = try await TestServer()
        let client = try await test.register("Album", type: type, redirectURIs: [address])
        let attempt = Attempt(test, by: client, at: address).with("response_mode", "fragment")
        let denied = try Self.parameters(of: try await attempt.authorize(decision: .deny), at: address, behind: "#")
        #expect(try denied.single("error") == "access_denied")
        let allowed = try Self.parameters(of: try await attempt.authorize(), at: address, behind: "#")
        #expect(allowed.pairs.map(\.name) == ["code", "state", "iss"])
        let code = try #require(AuthorizationCode(try allowed.single("code") ?? ""))
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
        let refused = try await attempt.with("scope", "unknown").firstReply()
        let error = try Self.parameters(of: refused, at: address, behind: "#")
        #expect(try error.single("error") == "invalid_scope")
        #expect(try error.single("state") == "af0ifjsldkj")
    }

    // RFC 3986 §3.5; a browser sends no fragment to a server, so the client would wait for nothing.
    @Test(arguments: [
        (ClientType.web, "https://app.example/cb"), (.native, "http://127.0.0.1:51004/callback"),
        (.native, "http://[::1]:51004/callback"),
    ])
    func `a server and a loopback listener get an error in the query`(type: ClientType, address: String) async throws {
        let test = try await TestServer()
        let client = try await test.register("Album", type: type, redirectURIs: [address])
        let attempt = Attempt(test, by: client, at: address).with("response_mode", "fragment")
        for attempt in [attempt, attempt.with("scope", "unknown")] {
            let reply = try await attempt.firstReply()
            let error = try Self.parameters(of: reply, at: address, behind: "?")
            #expect(try error.single("state") == "af0ifjsldkj")
            #expect(try reply.redirectedError.code == .invalidRequest)
            #expect(try reply.redirectedError.description?.contains("use response_mode=query") == true)
        }
    }

    // The page that continues to the client has the fragment in its link.
    @Test func `the page after the consent continues to the fragment`() async throws {
        let test = try await TestServer()
        let client = try await test.register("Album", type: .singlePage, redirectURIs: ["https://app.example/cb"])
        let attempt = Attempt(test, by: client, at: "https://app.example/cb").with("response_mode", "fragment")
        let reply = try await attempt.authorize()
        let page = try reply.goOnPage
        #expect(page.fields.isEmpty)
        #expect(try reply.html().contains("https://app.example/cb#code="))
    }
}
