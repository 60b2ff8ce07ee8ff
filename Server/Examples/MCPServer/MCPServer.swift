import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The MCP endpoint: JSON-RPC over HTTP (Model Context Protocol, Streamable HTTP), with the scopes of its tools.
///
/// It has no sessions. Each request contains an access token, and is answered with one JSON object.
struct MCPServer: Sendable {
    typealias Context = BasicVerifiedAccessRequestContext

    /// The maximum length of a message in bytes.
    static let byteLimit = 16 * 1024

    let resourceServer: ResourceServer
    /// The path of the endpoint.
    let path: String
    /// The origins of pages that may call the server.
    var allowedOrigins: Set<String> = []
    let notes = Notes()
    /// The scope of the endpoint, and so of every tool.
    let reading: Scope
    /// The scope of the tool `add_note`.
    let writing: Scope

    init(resourceServer: ResourceServer, path: String, allowedOrigins: [String] = []) throws {
        self.resourceServer = resourceServer
        self.path = path
        self.allowedOrigins = Set(allowedOrigins)
        reading = try Scope(parsing: "notes.read")
        writing = try Scope(parsing: "notes.write")
    }

    func router() throws -> Router<Context> {
        let router = Router(context: Context.self)
        router.add(middleware: try ProtectedResourceMetadataMiddleware(resourceServer))
        router.add(middleware: OriginCheck(allowed: allowedOrigins))
        // The check above has accepted the origin.
        router.add(
            middleware: CORSMiddleware(
                allowOrigin: .originBased, allowHeaders: [.authorization, .contentType] + HTTPField.Name.mcp,
                allowMethods: [.post]))
        router.group(RouterPath(path)).requireScope(reading, of: resourceServer)
            .post(use: answer)
            // There is no stream of events and no session, also for clients of older revisions.
            .get { _, _ in Response(status: .methodNotAllowed, headers: [.allow: "POST"]) }
            .delete { _, _ in Response(status: .methodNotAllowed, headers: [.allow: "POST"]) }
        return router
    }

    @Sendable private func answer(_ request: Request, context: Context) async throws -> Response {
        var id: Message.ID?
        do {
            let message = try await Self.message(in: request)
            // A notification, or the answer to a request that this server did not send.
            guard let given = message.id, message.method != nil else { return Response(status: .accepted) }
            id = given
            let revision = try Revision(of: message, in: request.headers)
            let result = try await result(of: message, in: revision, for: context.requireAccess())
            return try Answer(id: id, .success(CompleteResult(result, in: revision))).response(status: .ok)
        } catch let failure as Failure {
            return try Answer(id: id, .failure(failure)).response(status: failure.status)
        }
    }

    private func result(
        of message: Message, in revision: Revision, for access: VerifiedAccess
    ) async throws -> any Encodable & Sendable {
        switch (message.method, revision) {
        case ("server/discover", .stateless): return Discovery()
        case ("initialize", .handshake): return Initialization(for: message.params?.protocolVersion)
        case ("ping", .handshake): return [String: String]()
        case ("tools/list", _): return ToolList()
        case ("tools/call", _): return try await call(message.params, for: access)
        default: throw Failure.unknownMethod(in: revision)
        }
    }

    /// Calls a tool for the user of the token.
    ///
    /// The router has checked the scope of the endpoint. A refusal here becomes status 403 with a challenge that states
    /// both scopes, so that the client can ask the user for more.
    private func call(_ parameters: Message.Parameters?, for access: VerifiedAccess) async throws -> ToolResult {
        let user = try access.user()
        switch parameters?.name.flatMap(Tool.Name.init) {
        case .listNotes:
            return ToolResult(text: await notes.all(of: user).joined(separator: "\n"))
        case .addNote:
            try resourceServer.require(writing, of: access)
            guard let text = parameters?.arguments?.text, let note = Notes.Text(text) else {
                return ToolResult(error: "text must have 1 to \(Notes.Text.limit) characters")
            }
            guard await notes.add(note, of: user) else {
                return ToolResult(error: "a user can have at most \(Notes.limit) notes")
            }
            return ToolResult(text: "added")
        case nil:
            throw Failure.invalidParameters("unknown tool; the tools are list_notes and add_note")
        }
    }

    private static func message(in request: Request) async throws -> Message {
        let body: ByteBuffer
        do { body = try await request.body.collect(upTo: byteLimit) } catch is NIOTooManyBytesError {
            throw Failure.tooLarge
        }
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(body.readableBytesView)),
            message.jsonrpc == "2.0"
        else { throw Failure.invalidRequest }
        return message
    }
}
