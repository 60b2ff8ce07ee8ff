import CounterfoilProtocol
import CounterfoilResource
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import mcp_server

/// The MCP server in `Examples/MCPServer`, with tokens of a test authorization server.
@Suite struct MCPServerTests {
    private static let audience = "https://notes.example/mcp"

    /// An MCP client of the server.
    private struct Visitor: Sendable {
        let client: any TestClientProtocol
        let token: String?

        func send(
            _ body: String, _ fields: [String: String] = [:], method: HTTPRequest.Method = .post, path: String = "/mcp"
        ) async throws -> TestResponse {
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[.authorization] = token.map { "Bearer \($0)" }
            for (name, value) in fields { headers[try #require(HTTPField.Name(name))] = value }
            return try await client.executeRequest(
                uri: path, method: method, headers: headers, body: ByteBuffer(string: body))
        }

        /// Sends a request of the revision 2026-07-28.
        func request(_ method: String, name: String? = nil, arguments: String = "{}") async throws -> TestResponse {
            var fields = ["MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method]
            fields["Mcp-Name"] = name
            return try await send(Self.body(method, name: name, arguments: arguments), fields)
        }

        static func body(_ method: String, name: String? = nil, arguments: String = "{}") -> String {
            let call = name.map { #""name":"\#($0)","arguments":\#(arguments),"# } ?? ""
            return #"{"jsonrpc":"2.0","id":"a","method":"\#(method)","params":{\#(call)"_meta":{"#
                + #""io.modelcontextprotocol/protocolVersion":"2026-07-28","#
                + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
        }
    }

    private func visit(
        _ authority: Authority, scope: String? = "notes.read", audience: String = audience,
        allowedOrigins: [String] = [], _ test: @Sendable (Visitor) async throws -> Void
    ) async throws {
        let server = authority.resourceServer(
            audience: audience, scopeHierarchy: try ScopeHierarchy(["notes.write": "notes.read"]),
            publishing: ResourceDescription(scopes: try Scope(parsing: "notes.read"), name: "Notes"))
        let token = try scope.map { try authority.token(scope: $0, audience: audience) }
        let path = try AbsoluteURI(parsing: audience).path
        let notes = try MCPServer(resourceServer: server, path: path, allowedOrigins: allowedOrigins)
        try await Application(router: notes.router()).test(.router) { client in
            try await test(Visitor(client: client, token: token))
        }
    }

    private static func members(of response: TestResponse) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(response.body.readableBytesView)) as? [String: Any])
    }

    private static func result(of response: TestResponse) throws -> [String: Any] {
        #expect(response.status == .ok)
        return try #require(try members(of: response)["result"] as? [String: Any])
    }

    private static func error(of response: TestResponse) throws -> [String: Any] {
        try #require(try members(of: response)["error"] as? [String: Any])
    }

    // What a client needs to sign in, on its first request.
    @Test func `a request without a token is told where to get one`() async throws {
        try await Authority.run { authority async throws in
            try await visit(authority, scope: nil) { visitor async throws in
                // A client may begin with a GET request, or with a message.
                for response in [
                    try await visitor.request("tools/list"), try await visitor.send("", method: .get),
                    try await visitor.send("{}"), try await visitor.send("", method: .delete),
                ] {
                    #expect(response.status == .unauthorized)
                    let challenge = try #require(response.headers[.wwwAuthenticate])
                    #expect(
                        challenge.hasPrefix(
                            #"Bearer resource_metadata="https://notes.example/.well-known/oauth-protected-resource/mcp", "#
                                + #"scope="notes.read", DPoP "#))
                }
                let metadata = try await visitor.send(
                    "", method: .get, path: "/.well-known/oauth-protected-resource/mcp")
                let members = try Self.members(of: metadata)
                #expect(members["resource"] as? String == Self.audience)
                #expect(members["authorization_servers"] as? [String] == [authority.issuer.rawValue])
                #expect(members["scopes_supported"] as? [String] == ["notes.read"])
                for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server/mcp"] {
                    #expect(try await visitor.send("", method: .get, path: path).status == .notFound)
                }
            }
        }
    }

    // Model Context Protocol, Authorization: all scopes at once, and a broader scope stands for the narrower one.
    @Test(arguments: [("notes.read", false), ("notes.write", true), ("notes.read notes.write", true)])
    func `a tool with a second scope asks for both`(scope: String, isAllowed: Bool) async throws {
        try await Authority.run { authority async throws in
            try await visit(authority, scope: scope) { visitor async throws in
                let added = try await visitor.request("tools/call", name: "add_note", arguments: #"{"text":"Milk"}"#)
                if isAllowed {
                    #expect(try Self.result(of: added)["isError"] as? Bool == false)
                } else {
                    #expect(added.status == .forbidden)
                    let challenge = try #require(added.headers[.wwwAuthenticate])
                    #expect(challenge.hasPrefix("Bearer resource_metadata="))
                    #expect(challenge.contains(#"scope="notes.read notes.write", error="insufficient_scope""#))
                    #expect(added.headers[.accessControlExposeHeaders] == "WWW-Authenticate")
                }
                let listed = try Self.result(of: await visitor.request("tools/call", name: "list_notes"))
                let content = try #require(listed["content"] as? [[String: String]])
                #expect(content.map { $0["text"] } == [isAllowed ? "Milk" : ""])
            }
        }
    }

    // A token of another API, and a token without a user.
    @Test func `only a user with a token for this server has notes`() async throws {
        try await Authority.run { authority async throws in
            let other = try authority.token(scope: "notes.read")
            let service = try authority.token(subject: "lightbox", scope: "notes.read", audience: Self.audience)
            let anna = try authority.token(scope: "notes.write", audience: Self.audience)
            let bert = try authority.token(subject: "bert", scope: "notes.write", audience: Self.audience)
            try await visit(authority, scope: nil) { visitor async throws in
                func call(_ token: String, _ name: String) async throws -> TestResponse {
                    try await Visitor(client: visitor.client, token: token)
                        .request("tools/call", name: name, arguments: #"{"text":"Milk"}"#)
                }
                #expect(try await call(other, "list_notes").status == .unauthorized)
                #expect(try await call(service, "list_notes").status == .forbidden)
                #expect(try await call(anna, "add_note").status == .ok)
                #expect(String(buffer: try await call(anna, "list_notes").body).contains("Milk"))
                #expect(try await !String(buffer: call(bert, "list_notes").body).contains("Milk"))
            }
        }
    }

    // Model Context Protocol 2026-07-28, Versioning and Streamable HTTP: no session, each request describes itself.
    @Test func `the revision 2026-07-28 is served without a handshake`() async throws {
        try await Authority.run { authority async throws in
            try await visit(authority) { visitor async throws in
                let found = try Self.result(of: await visitor.request("server/discover"))
                #expect(found["resultType"] as? String == "complete")
                #expect((found["supportedVersions"] as? [String])?.first == "2026-07-28")
                let tools = try Self.result(of: await visitor.request("tools/list"))
                let names = (tools["tools"] as? [[String: Any]])?.map { $0["name"] as? String }
                #expect(names == ["list_notes", "add_note"])
                #expect(tools["ttlMs"] as? Int != nil)
                let unknown = try await visitor.request("resources/list")
                #expect(unknown.status == .notFound)
                #expect(try Self.error(of: unknown)["code"] as? Int == -32601)
                #expect(try Self.members(of: unknown)["id"] as? String == "a")

                let body = Visitor.body("tools/call", name: "list_notes")
                let all = ["MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "list_notes"]
                let encoded = all.merging(["Mcp-Name": "=?base64?bGlzdF9ub3Rlcw==?="]) { $1 }
                #expect(try await visitor.send(body, encoded).status == .ok)
                for name in all.keys {
                    for fields in [all.filter { $0.key != name }, all.merging([name: "other"]) { $1 }] {
                        let response = try await visitor.send(body, fields)
                        #expect(response.status == .badRequest)
                        #expect(try Self.error(of: response)["code"] as? Int == -32020)
                    }
                }
                let future = try await visitor.send(
                    body.replacing("2026-07-28", with: "1900-01-01"),
                    all.merging(["MCP-Protocol-Version": "1900-01-01"]) { $1 })
                #expect(future.status == .badRequest)
                let refused = try Self.error(of: future)
                #expect(refused["code"] as? Int == -32022)
                #expect((refused["data"] as? [String: Any])?["supported"] as? [String] == Revision.all)
            }
        }
    }

    // Model Context Protocol 2025-11-25, Lifecycle and Transports
    @Test(arguments: [
        ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ])
    func `an older client begins with a handshake`(proposed: String, negotiated: String) async throws {
        try await Authority.run { authority async throws in
            try await visit(authority) { visitor async throws in
                let begun = try await visitor.send(
                    #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"\#(proposed)","#
                        + #""capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#)
                #expect(try Self.result(of: begun)["protocolVersion"] as? String == negotiated)
                #expect(try Self.members(of: begun)["id"] as? Int == 0)
                let version = ["MCP-Protocol-Version": negotiated]
                let notified = try await visitor.send(
                    #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, version)
                #expect(notified.status == .accepted)
                #expect(notified.body.readableBytes == 0)
                let ping = try await visitor.send(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, version)
                #expect(try Self.result(of: ping).isEmpty)
                let listed = try await visitor.send(#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#, version)
                #expect((try Self.result(of: listed)["tools"] as? [Any])?.count == 2)
                let called = try await visitor.send(
                    #"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_notes"}}"#, version)
                #expect(try Self.result(of: called)["resultType"] == nil)
                let unknown = try await visitor.send(#"{"jsonrpc":"2.0","id":4,"method":"prompts/list"}"#, version)
                #expect(unknown.status == .ok)
                #expect(try Self.error(of: unknown)["code"] as? Int == -32601)
                for wrong in ["2026-07-28", "1900-01-01"] {
                    let response = try await visitor.send(
                        #"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#, ["MCP-Protocol-Version": wrong])
                    #expect(response.status == .badRequest)
                }
                #expect(try await visitor.send("", method: .get).status == .methodNotAllowed)
            }
        }
    }

    @Test(arguments: [
        ("", HTTPResponse.Status.badRequest), ("[]", .badRequest), (#"{"id":1,"method":"ping"}"#, .badRequest),
        (#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, .badRequest),
        (String(repeating: "x", count: 20_000), .contentTooLarge),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop"}}"#, .ok),
    ])
    func `a malformed message is refused`(body: String, status: HTTPResponse.Status) async throws {
        try await Authority.run { authority async throws in
            try await visit(authority) { visitor async throws in
                let response = try await visitor.send(body)
                #expect(response.status == status)
                #expect(try Self.error(of: response)["code"] as? Int != nil)
            }
        }
    }

    @Test(arguments: [#"{}"#, #"{"text":""}"#, #"{"text":5}"#, "{\"text\":\"\(String(repeating: "a", count: 1001))\"}"])
    func `a note without a usable text is an error of the tool`(arguments: String) async throws {
        try await Authority.run { authority async throws in
            try await visit(authority, scope: "notes.write") { visitor async throws in
                let response = try await visitor.request("tools/call", name: "add_note", arguments: arguments)
                #expect(try Self.result(of: response)["isError"] as? Bool == true)
            }
        }
    }

    // Streamable HTTP: a page that reaches the server by DNS rebinding has the origin of its own host.
    @Test(arguments: [
        ("http://localhost:6274", HTTPResponse.Status.unauthorized), ("http://rebound.example:8091", .forbidden),
        ("null", .forbidden),
    ])
    func `only pages of an allowed origin reach the server`(origin: String, status: HTTPResponse.Status) async throws {
        try await Authority.run { authority async throws in
            try await visit(authority, scope: nil, allowedOrigins: ["http://localhost:6274"]) { visitor async throws in
                let response = try await visitor.send("{}", ["Origin": origin])
                #expect(response.status == status)
                let isAllowed = status == .unauthorized
                #expect(response.headers[.accessControlAllowOrigin] == (isAllowed ? origin : nil))
                #expect(response.headers[.accessControlExposeHeaders] == (isAllowed ? "WWW-Authenticate" : nil))
                #expect(response.headers[.accessControlAllowCredentials] == nil)
                let preflight = try await visitor.send(
                    "", ["Origin": origin, "Access-Control-Request-Method": "POST"], method: .options)
                #expect(preflight.status == (isAllowed ? .noContent : .forbidden))
                #expect(
                    preflight.headers[.accessControlAllowHeaders]?.lowercased().contains("mcp-protocol-version")
                        ?? false == isAllowed)
                // The metadata are public.
                let metadata = try await visitor.send(
                    "", ["Origin": origin], method: .get, path: "/.well-known/oauth-protected-resource/mcp")
                #expect(metadata.headers[.accessControlAllowOrigin] == "*")
            }
        }
    }

    // RFC 9728 §3.1: an endpoint at the root has its metadata at the root.
    @Test(arguments: ["https://notes.example", "https://notes.example/"])
    func `an endpoint at the root is served`(audience: String) async throws {
        try await Authority.run { authority async throws in
            try await visit(authority, audience: audience) { visitor async throws in
                let response = try await visitor.send(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, path: "/")
                #expect(response.status == .ok)
                let metadata = try await visitor.send("", method: .get, path: "/.well-known/oauth-protected-resource")
                #expect(try Self.members(of: metadata)["resource"] as? String == "https://notes.example")
            }
        }
    }
}
