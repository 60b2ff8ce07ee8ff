import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// An MCP client at the sample MCP server, which the URL of the server leads to the real authorization server.
@Suite(.timeLimit(.minutes(10)))
struct MCPServerTests {
    /// Signs Alice in with the URL of the MCP server alone, and returns the access token.
    private static func token(of url: String, at site: Site, clientID: String, _ options: String...) async throws
        -> String
    {
        let device = try Device(in: site.folder)
        let login = try device.begin(
            ["login", "--resource", url, "--client-id", clientID, "--timeout", "60"] + options)
        let ended = try await login.whileRunning {
            var browser = UserAgent()
            _ = try await Account.alice.allow(try await device.openedAddress(), in: &browser)
            return try await login.ended()
        }
        #expect(ended.status == 0, "\(ended.errors)")
        let token = try await device.counterfoil("token")
        return token.output.trimmingCharacters(in: .newlines)
    }

    /// Sends a request of the revision 2026-07-28.
    private static func request(
        _ method: String, tool: String? = nil, at url: String, token: String? = nil
    ) async throws -> WebPage {
        let call = tool.map { #""name":"\#($0)","arguments":{"text":"Milk"},"# } ?? ""
        let body =
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(call)"_meta":{"#
            + #""io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
        var headers = [
            "content-type": "application/json", "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28", "mcp-method": method,
        ]
        headers["mcp-name"] = tool
        headers["authorization"] = token.map { "Bearer \($0)" }
        var agent = UserAgent()
        return try await agent.send(.post, url, headers: headers, body: Array(body.utf8))
    }

    private static func challenges(of page: WebPage) throws -> [AuthenticationChallenge] {
        let field = try #require(page.header("www-authenticate"))
        return AuthenticationChallenge.list(in: field)
    }

    /// Runs a site and an MCP server with a client that is registered for both scopes.
    private static func run(_ body: (Site, _ url: String, _ clientID: String) async throws -> Void) async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let notes = try await NotesServer(registeredAt: site)
            let clientID = try await site.registerClient("Notes", scopes: ["notes.read", "notes.write"])
            try await site.serving {
                try await notes.serving(for: site) { try await body(site, notes.url, clientID) }
            }
        }
    }

    // The first refusal leads to the issuer, and its tokens are accepted.
    @Test func `the URL of an MCP server leads to its authorization server`() async throws {
        try await Self.run { site, url, clientID in
            let refused = try await Self.request("tools/list", at: url)
            #expect(refused.status == 401)
            let challenges = try Self.challenges(of: refused)
            #expect(challenges.map(\.scheme) == ["bearer", "dpop"])
            #expect(challenges.first?["scope"] == "notes.read")
            let place = try #require(challenges.first?["resource_metadata"])
            #expect(place == url.replacing("/mcp", with: "/.well-known/oauth-protected-resource/mcp"))

            var agent = UserAgent()
            let document = try await agent.send(.get, place)
            #expect(document.status == 200)
            let metadata = try #require(
                try JSONSerialization.jsonObject(with: Data(document.body.utf8)) as? [String: Any])
            #expect(metadata["resource"] as? String == url)
            #expect(metadata["authorization_servers"] as? [String] == [site.issuer])

            let token = try await Self.token(of: url, at: site, clientID: clientID)
            let listed = try await Self.request("tools/list", at: url, token: token)
            #expect(listed.status == 200)
            #expect(listed.body.contains("add_note"))
            let called = try await Self.request("tools/call", tool: "list_notes", at: url, token: token)
            #expect(called.body.contains(#""isError":false"#), "\(called.body)")
        }
    }

    // The challenge of a tool with a second scope states both, so that one more sign-in is enough.
    @Test func `a tool with a second scope works after a second consent`() async throws {
        try await Self.run { site, url, clientID in
            let reading = try await Self.token(of: url, at: site, clientID: clientID)
            let narrow = try await Self.request("tools/call", tool: "add_note", at: url, token: reading)
            #expect(narrow.status == 403)
            let challenge = try #require(try Self.challenges(of: narrow).first)
            #expect(challenge["error"] == "insufficient_scope")
            #expect(challenge["resource_metadata"]?.hasSuffix("/.well-known/oauth-protected-resource/mcp") == true)
            let wanted = try #require(challenge["scope"])
            #expect(wanted == "notes.read notes.write")

            let writing = try await Self.token(of: url, at: site, clientID: clientID, "--scope", wanted)
            let added = try await Self.request("tools/call", tool: "add_note", at: url, token: writing)
            #expect(added.body.contains("added"), "\(added.body)")
            let listed = try await Self.request("tools/call", tool: "list_notes", at: url, token: reading)
            #expect(listed.body.contains("Milk"))
        }
    }

    // A token for the default audience is none for the MCP server.
    @Test func `a token for another audience is refused`() async throws {
        try await Self.run { site, url, _ in
            let viewer = try await site.registerClient("Viewer", scopes: ["openid"])
            let device = try Device(in: site.folder)
            let login = try device.beginLogin(site, clientID: viewer, "--scope", "openid")
            let ended = try await login.whileRunning {
                var browser = UserAgent()
                _ = try await Account.alice.allow(try await device.openedAddress(), in: &browser)
                return try await login.ended()
            }
            #expect(ended.status == 0, "\(ended.errors)")
            let token = try await device.counterfoil("token").output.trimmingCharacters(in: .newlines)
            let refused = try await Self.request("tools/list", at: url, token: token)
            #expect(refused.status == 401)
            #expect(try Self.challenges(of: refused).first?["error"] == "invalid_token")
        }
    }
}
