import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of the MCP client in `Examples/MCPClient`, as a program.
@Suite(.timeLimit(.minutes(2)))
struct MCPClientTests {
    /// The program with a user who signs in where it asks for that.
    private static func run(
        _ url: String, in directory: TemporaryDirectory
    ) async throws -> (outcome: CommandLineTool.Outcome, signIns: Int) {
        let visits = Mutex<[Task<Void, Never>]>([])
        let outcome = try await CommandLineTool.run(
            [url], of: .mcpClient, home: directory.url, environment: ["BROWSER": "/bin/true"],
            onLine: { line in
                guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                visits.withLock { $0.append(Task { _ = await ScriptedBrowser().open(url) }) }
            })
        let opened = visits.withLock { $0 }
        for visit in opened { await visit.value }
        return (outcome, opened.count)
    }

    private static let answers = [
        #"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
        #"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}"#,
        #"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"search"},{"name":"resize"}]}}"#,
    ]

    // Model Context Protocol, Authorization and Streamable HTTP
    @Test func `the URL of an MCP server is enough to sign in and list its tools`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.api.answerType = "text/event-stream"
        script.api.answer = Self.answers.map { "event: message\ndata: \($0)\n\n" }.joined()
        try await ScriptedAuthorizationServer.run(script) { server in
            let url = server.url(of: .api)
            let first = try await Self.run(url, in: directory)
            #expect(first.outcome.status == 0, "\(first.outcome.errors)")
            #expect(first.outcome.output == "search\nresize\n")
            #expect(first.signIns == 1)
            #expect(server.requests(to: .registration).count == 1)
            #expect(server.requests(to: .token).first?.form["resource"] == url)
            let calls = server.requests(to: .api).filter { $0.authorization != nil }
            #expect(calls.count == 3)
            // Each request after the first names the revision that the server has chosen.
            let versions = calls.map { $0.field("MCP-Protocol-Version") }
            #expect(versions == [nil, "2025-06-18", "2025-06-18"])

            // The second run has the tokens of the first.
            let second = try await Self.run(url, in: directory)
            #expect(second.outcome.output == "search\nresize\n")
            #expect(second.signIns == 0)
        }
    }

    @Test func `an error of the MCP server is shown`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.api.answer = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#
        try await ScriptedAuthorizationServer.run(script) { server in
            let run = try await Self.run(server.url(of: .api), in: directory)
            #expect(run.outcome.status == 1)
            #expect(run.outcome.errors.hasSuffix("Method not found\n"))
        }
    }
}
