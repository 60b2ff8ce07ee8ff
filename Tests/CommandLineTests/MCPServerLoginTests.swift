import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of a sign-in at an MCP server whose authorization server is another host.
@Suite(.timeLimit(.minutes(5)))
struct MCPServerLoginTests {
    /// Runs a test with an MCP server and the authorization server that it names.
    private static func run(
        _ script: ServerScript = ServerScript(),
        _ body:
            @escaping @Sendable (_ api: ScriptedAuthorizationServer, _ server: ScriptedAuthorizationServer)
            async throws -> Void
    ) async throws {
        try await ScriptedAuthorizationServer.run(script) { server in
            var other = ServerScript()
            other.metadata.resourceReplaced = [
                WireMember("authorization_servers", [.text(server.issuer.rawValue)])
            ]
            try await ScriptedAuthorizationServer.run(other) { api in try await body(api, server) }
        }
    }

    /// Signs in without a client ID; `visit` acts for the user.
    private static func login(
        at api: ScriptedAuthorizationServer, home: URL,
        visit: @escaping @Sendable (BrowserURL) async throws -> Void = { _ = await ScriptedBrowser().open($0) }
    ) async throws -> CommandLineTool.Outcome {
        try await CommandLineTool.login(
            ["--resource", api.url(of: .api), "--browser", "print"], client: nil, home: home, visit: visit)
    }

    // The MCP server gets no code, no secret and no identifier of the client.
    @Test func `the client registers at the issuer, and the MCP server gets only requests without a token`()
        async throws
    {
        let directory = try TemporaryDirectory()
        try await Self.run { api, server in
            let login = try await Self.login(at: api, home: directory.url)
            #expect(login.status == 0, "\(login.errors)")
            #expect(server.requests(to: .registration).first?.json?["application_type"] == "native")
            #expect(server.requests(to: .token).first?.form.all("resource") == [api.url(of: .api)])
            #expect(Set(api.requests.map(\.endpoint)) == [.api, .resourceMetadata])
            #expect(api.requests.allSatisfy { $0.authorization == nil && $0.body.isEmpty && $0.query.pairs.isEmpty })
        }
    }

    // RFC 7591 §3: a server may delete a client at any time.
    @Test(arguments: ["error page", "error response", "token response"])
    func `a registration that the server has deleted is replaced in the same login`(place: String) async throws {
        let directory = try TemporaryDirectory()
        try await Self.run(ServerScript(.noPushedRequests)) { api, server in
            let first = try await Self.login(at: api, home: directory.url)
            #expect(first.status == 0, "\(first.errors)")
            let former = try #require(server.requests(to: .token).last?.form["client_id"])
            server.forgetRequests()
            switch place {
            case "error page":
                server.change { $0.clients.known = [] }
                server.forgetRegistrations()
            case "error response": server.change { $0.authorization.outcome = .error("invalid_client", nil) }
            default:
                server.change {
                    $0.interruptions = [Interruption(at: .token, times: 1, .refusal("invalid_client", status: 401))]
                }
            }
            let second = try await Self.login(at: api, home: directory.url) { url in
                if !url.rawValue.contains(former) { server.change { $0.authorization.outcome = .code } }
                _ = await ScriptedBrowser().open(url)
            }
            #expect(second.status == 0, "\(second.errors)")
            let requests = server.requests(to: .registration)
            #expect(requests.count == 1)
            #expect(requests.first?.json?["application_type"] == "native")
            #expect(server.requests(to: .token).last?.form["client_id"] != former)
            #expect(second.errors.contains("This client was registered at \(server.issuer).\n"))
        }
    }

    // OAuth Client ID Metadata Document §3: a client ID that is the URL of a metadata document needs no other option.
    @Test func `the URL of a metadata document can be the client ID`() async throws {
        let directory = try TemporaryDirectory()
        let document = "https://lightbox.example/client.json"
        var script = ServerScript()
        script.metadata.replaced = [WireMember("client_id_metadata_document_supported", true)]
        try await Self.run(script) { api, server in
            let login = try await CommandLineTool.login(
                ["--resource", api.url(of: .api), "--browser", "print"], client: document, home: directory.url)
            #expect(login.status == 0, "\(login.errors)")
            #expect(server.requests(to: .token).first?.form["client_id"] == document)
            #expect(server.requests(to: .registration).isEmpty)
        }
    }

    // Model Context Protocol, Scope: the server never grants what the API demands.
    @Test func `call --step-up asks once for a scope that the server does not grant`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript(.noPushedRequests)
        script.authorization.grantedScope = "photos.read"
        script.api.requiredScope = "photos.write"
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await Self.login(at: server, home: directory.url)
            #expect(login.status == 0, "\(login.errors)")
            server.forgetRequests()
            let visits = Mutex<[Task<Void, Never>]>([])
            let call = try await CommandLineTool.run(
                ["call", "--step-up", server.url(of: .api)], home: directory.url,
                environment: ["BROWSER": "/bin/true"],
                onLine: { line in
                    guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                    visits.withLock { $0.append(Task { _ = await ScriptedBrowser().open(url) }) }
                })
            for visit in visits.withLock({ $0 }) { await visit.value }
            #expect(call.status == 3, "\(call.errors)")
            #expect(server.requests(to: .authorization).map { $0.query["scope"] } == ["photos.read photos.write"])
        }
    }
}
