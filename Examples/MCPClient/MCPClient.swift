import CounterfoilClient
import CounterfoilProtocol
import Foundation
import HTTPTypes

/// A minimal MCP client, which lists the tools of an MCP server.
///
///     mcp-client https://mcp.example.com/mcp
///
/// The server names its authorization server (RFC 9728). The program registers itself there (RFC 7591), signs the user
/// in, and sends requests whose responses may arrive as a stream of events (MCP, Streamable HTTP).
@main
struct MCPClient {
    private struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private struct Answer: Decodable {
        struct Problem: Decodable { let message: String }
        struct Result: Decodable {
            let protocolVersion: String?
            let tools: [Tool]?
        }
        struct Tool: Decodable { let name: String }
        let id: Int?
        let result: Result?
        let error: Problem?
    }

    private let url: String
    private let session: TokenSession

    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            say("Usage: mcp-client URL")
            exit(64)
        }
        do {
            let server = try await MCPClient(of: CommandLine.arguments[1])
            let start =
                #"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcp-client","version":"1"}}"#
            let (begun, id) = try await server.request(1, "initialize", start)
            let version = begun.result?.protocolVersion
            _ = try await server.send(
                #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, in: id, version: version)
            let (answer, _) = try await server.request(2, "tools/list", "{}", in: id, version: version)
            for tool in answer.result?.tools ?? [] { print(tool.name) }
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    /// Signs the user in, unless the program has tokens for the server from an earlier run.
    private init(of url: String) async throws {
        let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.mcp-client"))
        var client = ClientIdentification()
        client.registration = .init(as: "MCP Client", storedIn: store)
        let signIn = try await NativeSignIn(resource: url, client: client)
        self.url = url
        let profile = ProfileName(for: try signIn.options.resources.first ?? Resource(url))
        session = TokenSession(for: signIn, store: store, profile: profile)
        _ = try await session.signedIn { event in
            if case .opening(let url) = event { Self.say("Open: \(url)") }
        }
    }

    /// Sends a request, and returns its answer and the identifier of the MCP session.
    private func request(
        _ id: Int, _ method: String, _ parameters: String, in session: String? = nil, version: String? = nil
    ) async throws -> (Answer, String?) {
        let response = try await send(
            #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(parameters)}"#, in: session,
            version: version)
        if response.mediaType == "text/event-stream" {
            for try await event in response.events() {
                if let answer = try Self.answer(event.data, to: id) { return (answer, response.session ?? session) }
            }
        } else {
            let text = try await response.collected(upTo: 1 << 20).text
            if let answer = try Self.answer(text, to: id) { return (answer, response.session ?? session) }
        }
        throw Failed(description: "\(url) did not answer \(method).")
    }

    /// Sends a message; after the first one, `version` is the revision of the protocol that the server has chosen.
    private func send(_ message: String, in session: String?, version: String?) async throws -> StreamedResponse {
        var request = try TransportRequest(api: url, method: .post, body: RequestBody(message.utf8))
        request.headerFields[.contentType] = "application/json"
        request.headerFields[.accept] = "application/json, text/event-stream"
        if let session, let name = StreamedResponse.sessionField { request.headerFields[name] = session }
        if let name = HTTPField.Name("MCP-Protocol-Version") { request.headerFields[name] = version }
        let response = try await self.session.stream(request)
        guard (200..<300).contains(response.statusCode) else {
            throw Failed(description: "\(url) responded with status \(response.statusCode).")
        }
        return response
    }

    /// Returns the answer to a request; nil for every other message.
    private static func answer(_ text: String, to id: Int) throws -> Answer? {
        let answer = try JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        if let problem = answer.error { throw Failed(description: problem.message) }
        return answer.id == id ? answer : nil
    }

    private static func say(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}

extension StreamedResponse {
    fileprivate static let sessionField = HTTPField.Name("Mcp-Session-Id")

    /// The identifier of the MCP session; nil if the server has none.
    fileprivate var session: String? { Self.sessionField.flatMap { head.headerFields[$0] } }
}
