import CounterfoilClientTesting
import CounterfoilProtocol
import HTTPTypes
import TestSupport
import Testing

/// Tests of the doctor's judgment of the access by scripts in a browser.
@Suite(.timeLimit(.minutes(5)))
struct DoctorScriptTests {
    private static func report(
        _ arguments: [String] = [], _ change: (inout ServerScript) -> Void
    ) async throws -> (DoctorReport, Int32, [RecordedRequest]) {
        var script = ServerScript.mcpServer()
        change(&script)
        return try await ScriptedAuthorizationServer.run(script) { server in
            let (outcome, report) = try await DoctorReport.of(["--resource", server.url(of: .api)] + arguments)
            return (report, outcome.status, server.requests)
        }
    }

    private static let topics = ["scripts-api", "scripts-resource-metadata", "scripts-metadata", "scripts-token"]

    // Fetch §3.3
    @Test func `without CORS, clients in a browser fail at each endpoint`() async throws {
        let (report, status, requests) = try await Self.report { $0.allowsEveryOrigin = false }
        #expect(Set(Self.topics).isSubset(of: report.noteTopics), "\(report.findings)")
        #expect(report["scripts-api"]?.text.contains("http://localhost:6274") == true)
        #expect(report["scripts-api"]?.why?.contains("MCP Inspector") == true)
        #expect(status == 0, "\(report.faultTopics)")
        let preflights = requests.filter { $0.method == .options }
        #expect(
            preflights.allSatisfy {
                $0.field("Access-Control-Request-Headers")?.contains("mcp-protocol-version") == true
            })
        #expect(Set(preflights.map(\.endpoint)) == [.api, .resourceMetadata, .metadata])
    }

    @Test func `a field that the preflight does not allow and a hidden challenge are reported`() async throws {
        let (fields, _, _) = try await Self.report { $0.allowedFields = ["Authorization", "Content-Type"] }
        for topic in Self.topics.dropLast() {
            #expect(fields[topic]?.text.hasSuffix("does not allow mcp-protocol-version") == true, "\(topic)")
        }
        // Fetch §4.8: `*` does not include Authorization.
        let (star, _, _) = try await Self.report { $0.allowedFields = ["*"] }
        #expect(star["scripts-api"]?.text.hasSuffix("does not allow authorization") == true, "\(star.findings)")
        #expect(star["scripts-metadata"]?.weight == "sound")
        let (hidden, _, _) = try await Self.report { $0.exposedFields = [] }
        #expect(hidden["scripts-api"]?.text.hasSuffix("does not expose WWW-Authenticate") == true, "\(hidden.findings)")
    }

    @Test func `with --origin, a denied origin is a fault and a missing field of MCP is not`() async throws {
        let origin = ["--origin", "https://app.example.com"]
        let (denied, status, _) = try await Self.report(origin) { $0.allowsEveryOrigin = false }
        #expect(denied.faultTopics.contains("scripts-api"), "\(denied.findings)")
        #expect(status == 5)
        let (report, other, requests) = try await Self.report(origin) {
            $0.allowedFields = ["Authorization", "Content-Type"]
        }
        #expect(report.noteTopics.contains("scripts-metadata"))
        #expect(other == 0, "\(report.faultTopics)")
        #expect(requests.allSatisfy { $0.origin == nil || $0.origin == "https://app.example.com" })
    }
}
