import CounterfoilClientTesting
import CounterfoilProtocol
import HTTPTypes
import TestSupport
import Testing

/// Tests of the doctor at an MCP server of which only the URL is known.
@Suite(.timeLimit(.minutes(5)))
struct DoctorMCPTests {
    /// Runs the doctor on the API of a server.
    private static func examine(
        _ script: ServerScript, _ arguments: [String] = []
    ) async throws -> (CommandLineTool.Outcome, DoctorReport, [RecordedRequest]) {
        try await ScriptedAuthorizationServer.run(script) { server in
            let (outcome, report) = try await DoctorReport.of(["--resource", server.url(of: .api)] + arguments)
            return (outcome, report, server.requests)
        }
    }

    // RFC 9728 §5, Model Context Protocol: Authorization
    @Test func `the URL of a complete MCP server is enough, and nothing is registered`() async throws {
        let (outcome, report, requests) = try await Self.examine(.mcpServer())
        #expect(outcome.status == 0)
        #expect(report.faultTopics.isEmpty, "\(report.findings)")
        #expect(Set(report.noteTopics) == ["tls-none", "authorization-not-tried", "not-tried"], "\(report.findings)")
        for topic in [
            "challenge", "challenge-metadata", "challenge-scope", "resource", "resource-metadata-path",
            "resource-exact", "metadata", "issuer-canonical", "iss-promised", "pkce", "client-documents",
            "registration-offered", "offline-access", "unknown-path", "scripts-api", "scripts-resource-metadata",
            "scripts-metadata", "scripts-token",
        ] { #expect(report.topics.contains(topic), "\(topic)") }
        #expect(requests.allSatisfy { $0.endpoint != .registration && $0.authorization == nil })
        let left = report["not-tried"]?.text ?? ""
        #expect(left.contains("registration of a client; a client metadata document"), "\(left)")
    }

    @Test func `the issuer and the API are examined together, and the scope of the API is requested`() async throws {
        try await ScriptedAuthorizationServer.run(.mcpServer(.noPushedRequests, .rotatesLeniently)) { server in
            server.change { $0.clients.redirects = .anyPort(["http://127.0.0.1/callback"], hosts: ["127.0.0.1"]) }
            let api = server.url(of: .api)
            let (outcome, report) = try await DoctorReport.of([
                server.issuer.rawValue, "--resource", api, "--client-id", "lightbox", "--sign-in", "--browser", "print",
            ])
            #expect(report.faultTopics.isEmpty, "\(report.findings)")
            #expect(outcome.status == 0)
            #expect(report.topics.contains("api"))
            // A token that is requested without the API may be for another one.
            #expect(
                report["api-sign-in"]?.mend
                    == "sign in with: counterfoil login \(server.issuer) --client-id lightbox --resource \(api) --scope "
                    + "photos.read")
            let asked = server.requests(to: .authorization)
            #expect(!asked.isEmpty)
            #expect(asked.allSatisfy { $0.query.all("resource") == [api] && $0.query["scope"] == "photos.read" })
        }
    }

    // RFC 9728 §2 and §3
    @Test(
        arguments: [
            ("no metadata", "resource-metadata-missing", 5), ("metadata for users", "resource-metadata-protected", 5),
            ("metadata elsewhere", "resource-metadata-path-missing", 0),
            ("two metadata", "resource-metadata-differ", 0),
            ("page as metadata", "resource-metadata-unreadable", 5), ("text as metadata", "resource-metadata-type", 0),
            ("a final slash", "resource-mismatch", 5), ("no server", "resource-metadata-unreadable", 5),
            ("two servers", "resource-servers-many", 0), ("a bad server first", "resource-server-first", 0),
            ("offline_access", "resource-offline-access", 0), ("token in the body", "resource-bearer-methods", 0),
            ("pages for unknown paths", "unknown-path", 0),
        ] as [(String, String, Int32)])
    func `the metadata of the API reveal these faults`(fault: String, topic: String, status: Int32) async throws {
        var script = ServerScript.mcpServer()
        let json = #"{"resource":"{origin}/api","authorization_servers":["{origin}"],"scopes_supported":["a"]}"#
        switch fault {
        case "no metadata":
            script.challenge("Bearer")
            script.metadata.absent.insert(.resourceMetadata)
        case "metadata for users": script.interruptions = [Interruption(at: .resourceMetadata, .trouble(401))]
        case "metadata elsewhere":
            script.challenge("Bearer resource_metadata=\"{origin}/elsewhere\"")
            script.metadata.absent.insert(.resourceMetadata)
            script.interruptions = [Interruption(at: .unknown, times: 1, .json(json))]
            script.interruptions.append(Interruption(at: .unknown, skipping: 2, times: 1, .json(json)))
        case "two metadata":
            script.challenge("Bearer resource_metadata=\"{origin}/elsewhere\"")
            script.interruptions = [Interruption(at: .unknown, times: 2, .json(json))]
        case "page as metadata": script.interruptions = [Interruption(at: .resourceMetadata, .html())]
        case "text as metadata":
            script.interruptions = [
                Interruption(
                    at: .resourceMetadata,
                    ScriptedAnswer(headerFields: [.init("Content-Type", "text/plain")], body: .text(json)))
            ]
        case "a final slash": script.api.resource = "{origin}/api/"
        case "no server": script.metadata.resourceOmitted = ["authorization_servers"]
        case "two servers", "a bad server first":
            let other = fault == "two servers" ? "https://id.example.com" : "ftp://id.example.com"
            let servers: WireValue = fault == "two servers" ? ["{origin}", .text(other)] : [.text(other), "{origin}"]
            script.interruptions = [
                Interruption(
                    at: .resourceMetadata,
                    .json(
                        WireValue.object([
                            WireMember("resource", "{origin}/api"), WireMember("authorization_servers", servers),
                        ]).written))
            ]
        case "offline_access":
            script.metadata.resourceReplaced = [WireMember("scopes_supported", ["photos.read", "offline_access"])]
        case "token in the body":
            script.metadata.resourceReplaced = [WireMember("bearer_methods_supported", ["body"])]
        default: script.interruptions = [Interruption(at: .unknown, .html())]
        }
        let (outcome, report, _) = try await Self.examine(script)
        let finding = try #require(report.findings.first { $0.topic == topic && $0.weight != "sound" }, "\(report)")
        #expect(finding.mend?.isEmpty == false)
        #expect(outcome.status == status, "\(report.faultTopics)")
    }

    // The other servers of the list are not examined, because clients do not use them.
    @Test func `an issuer that the API names second is examined, with a note`() async throws {
        try await ScriptedAuthorizationServer.run(.mcpServer()) { server in
            let issuer = server.issuer.rawValue
            server.change {
                $0.metadata.resourceReplaced = [
                    WireMember("authorization_servers", ["https://id.example.com", .text(issuer)])
                ]
            }
            let (outcome, report) = try await DoctorReport.of(
                [server.issuer.rawValue, "--resource", server.url(of: .api)])
            #expect(report.topics.contains("resource-server-order"), "\(report.topics)")
            #expect(report.topics.contains("metadata"))
            #expect(outcome.status == 0, "\(report.faultTopics)")
        }
    }

    // Model Context Protocol, Streamable HTTP: a server need not offer GET.
    @Test func `an MCP server that demands a token only for POST has its challenge checked`() async throws {
        var script = ServerScript.mcpServer()
        script.interruptions = [Interruption(at: .api, times: 1, ScriptedAnswer(status: 405))]
        let (outcome, report, requests) = try await Self.examine(script)
        #expect(report.topics.contains("challenge-scope"), "\(report.findings)")
        #expect(outcome.status == 0)
        let message = try #require(requests.first { $0.endpoint == .api && $0.method == .post })
        #expect(message.json?["method"] == "initialize")
        #expect(message.authorization == nil)
    }

    @Test func `an API without protection is a note, also if its response has no end`() async throws {
        var script = ServerScript.mcpServer()
        script.interruptions = [Interruption(at: .api, .endless)]
        let (outcome, report, _) = try await Self.examine(script)
        #expect(report.topics.contains("api-open"), "\(report.findings)")
        #expect(outcome.status == 0, "\(report.faultTopics)")
    }

    // RFC 8414 §3.3, RFC 9207 §3
    @Test(
        arguments: [
            ("a final slash", "issuer-not-canonical", 0), ("another issuer", "issuer-mismatch", 5),
            ("no iss", "iss-not-promised", 0), ("no PKCE", "pkce-not-stated", 5),
        ] as [(String, String, Int32)])
    func `the issuer and the metadata of its server reveal these faults`(
        fault: String, topic: String, status: Int32
    ) async throws {
        var script = ServerScript.mcpServer()
        switch fault {
        // The API and the server name the same issuer.
        case "a final slash": script.issuer = "{origin}/"
        case "another issuer":
            script.issuer = "{origin}/"
            script.interruptions = [
                Interruption(
                    at: .resourceMetadata, .json(#"{"resource":"{origin}/api","authorization_servers":["{origin}"]}"#))
            ]
        case "no iss": script.metadata.omitted = ["authorization_response_iss_parameter_supported"]
        default: script.metadata.omitted = ["code_challenge_methods_supported"]
        }
        let (outcome, report, _) = try await Self.examine(script)
        let finding = try #require(report[topic], "\(report.findings)")
        #expect(finding.why?.isEmpty == false)
        #expect(finding.mend?.isEmpty == false)
        #expect(outcome.status == status, "\(report.faultTopics)")
    }

    @Test func `the text names the clients that fail`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript.mcpServer()
        script.challenge("DPoP algs=\"ES256\"", "Bearer \(ServerScript.place), scope=\"photos.read\"")
        try await ScriptedAuthorizationServer.run(script) { server in
            let outcome = try await CommandLineTool.run(
                ["doctor", "--resource", server.url(of: .api)], home: directory.url)
            #expect(outcome.status == 0)
            #expect(
                outcome.output.contains(
                    """
                    note   the first challenge of the API is dpop and not Bearer
                           because clients with the MCP SDK for TypeScript read the field only if it begins with Bearer; \
                    they find neither resource_metadata nor scope
                           → send the Bearer challenge first
                    """), "\(outcome.output)")
        }
    }
}
