import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

/// The metadata of an API, as its middleware serves them (RFC 9728).
@Suite struct ProtectedResourceMetadataTests {
    private typealias Context = BasicVerifiedAccessRequestContext

    private static let prefix = "/.well-known/oauth-protected-resource"

    /// Sends a request to an application that requires a token everywhere else.
    private static func answer(
        of server: ResourceServer, _ path: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        let router = Router(context: Context.self)
        router.add(middleware: try ProtectedResourceMetadataMiddleware(server))
        router.add(middleware: CORSMiddleware(allowOrigin: .oneOf("https://app.example")))
        router.add(middleware: BearerAuthenticationMiddleware(server))
        router.get("mcp") { _, _ in "inside" }
        return try await Application(router: router).test(.router) { client in
            try await client.executeRequest(uri: path, method: method, headers: headers, body: nil)
        }
    }

    private static func members(of response: TestResponse) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(response.body.readableBytesView)) as? [String: Any])
    }

    // RFC 9728 §2, §3: built from the settings of the API alone.
    @Test func `the document names the API, its issuer and the scope to start with`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(
                audience: "https://notes.example:8443/mcp",
                publishing: ResourceDescription(
                    scopes: try Scope(parsing: "notes.read offline_access"), name: "Notes",
                    documentation: try AbsoluteURI(parsing: "https://notes.example/help")))
            let response = try await Self.answer(of: server, "\(Self.prefix)/mcp")
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == "application/json")
            let members = try Self.members(of: response)
            #expect(members["resource"] as? String == "https://notes.example:8443/mcp")
            #expect(members["authorization_servers"] as? [String] == [authority.issuer.rawValue])
            #expect(members["scopes_supported"] as? [String] == ["notes.read"])
            #expect(members["bearer_methods_supported"] as? [String] == ["header"])
            #expect(members["resource_name"] as? String == "Notes")
            #expect(members["resource_documentation"] as? String == "https://notes.example/help")
            #expect(
                members["dpop_signing_alg_values_supported"] as? [String] == ["ES256", "RS256", "Ed25519", "EdDSA"])
            #expect(members.count == 7)
        }
    }

    // RFC 9728 §2, RFC 9449: an API without scopes, without proofs, or for bound tokens only.
    @Test func `a member without a value is omitted`() async throws {
        try await Authority.run { authority async throws in
            let bare = authority.resourceServer(
                proofs: ProofPolicy(requiresBoundTokens: true), publishing: ResourceDescription())
            let members = try Self.members(of: await Self.answer(of: bare, Self.prefix))
            #expect(members["dpop_bound_access_tokens_required"] as? Bool == true)
            #expect(
                Set(members.keys) == [
                    "resource", "authorization_servers", "bearer_methods_supported",
                    "dpop_signing_alg_values_supported",
                    "dpop_bound_access_tokens_required",
                ])
        }
    }

    // RFC 9728 §3, §3.1: the path of the API follows the well-known path; a slash alone is removed.
    @Test(arguments: [
        ("https://notes.example", "https://notes.example", ""),
        ("https://notes.example/", "https://notes.example", ""),
        ("https://notes.example/mcp", "https://notes.example/mcp", "/mcp"),
        ("https://notes.example/a/b/", "https://notes.example/a/b/", "/a/b/"),
        ("https://notes.example/mcp?tenant=1", "https://notes.example/mcp?tenant=1", "/mcp?tenant=1"),
        ("http://[::1]:8091/mcp", "http://[::1]:8091/mcp", "/mcp"),
    ])
    func `each API has its document at one path`(audience: String, resource: String, path: String) async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(audience: audience, publishing: ResourceDescription())
            let metadata = try #require(server.metadata)
            #expect(metadata.url.hasSuffix(Self.prefix + path))
            #expect(server.resourceMetadata == metadata.url)
            let response = try await Self.answer(of: server, Self.prefix + path)
            #expect(try Self.members(of: response)["resource"] as? String == resource)
            for other in ["/other", "/mcp/", "/mcp/x", "/", "x"] where other != path {
                // The rest of the application answers, which requires a token.
                #expect(try await Self.answer(of: server, Self.prefix + other).status == .unauthorized)
            }
        }
    }

    // Fetch §3.2: MCP clients in a browser read the document without a token, and send MCP-Protocol-Version.
    @Test func `scripts of every origin can read the document`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(
                audience: "https://notes.example/mcp", publishing: ResourceDescription())
            let path = "\(Self.prefix)/mcp"
            let origin: HTTPFields = [.origin: "https://inspector.example"]
            let response = try await Self.answer(of: server, path, headers: origin)
            #expect(response.headers[values: .accessControlAllowOrigin] == ["*"])
            var asked = origin
            asked[.accessControlRequestMethod] = "GET"
            asked[.accessControlRequestHeaders] = "authorization,mcp-protocol-version"
            let preflight = try await Self.answer(of: server, path, method: .options, headers: asked)
            #expect(preflight.status == .noContent)
            #expect(preflight.headers[values: .accessControlAllowOrigin] == ["*"])
            let allowed = try #require(preflight.headers[.accessControlAllowHeaders]).lowercased()
            for name in [
                "authorization", "mcp-protocol-version", "content-type", "dpop", "traceparent", "sentry-trace",
            ] {
                #expect(allowed.contains(name))
            }
            #expect(preflight.headers[.accessControlAllowCredentials] == nil)
            let head = try await Self.answer(of: server, path, method: .head)
            #expect(head.status == .ok)
            #expect(head.body.readableBytes == 0)
            #expect(try await Self.answer(of: server, path + "?x=1").status == .ok)
            let posted = try await Self.answer(of: server, path, method: .post)
            #expect(posted.status == .methodNotAllowed)
            #expect(posted.headers[.allow] == "GET, HEAD, OPTIONS")
        }
    }

    @Test(arguments: ["urn:photos", "photos", "https://user@notes.example", "https://notes.example/mcp#x"])
    func `an API that has no metadata cannot serve them`(audience: String) async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(audience: audience, publishing: ResourceDescription())
            #expect(server.metadata == nil)
            let error = #expect(throws: UnpublishedResourceError.self) {
                try ProtectedResourceMetadataMiddleware<Context>(server)
            }
            #expect(error?.description.contains("pass a ResourceDescription") == true)
            #expect(throws: UnpublishedResourceError.self) {
                try ProtectedResourceMetadataMiddleware<Context>(authority.resourceServer())
            }
        }
    }
}
