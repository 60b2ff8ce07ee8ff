import ArgumentParser
import CounterfoilProtocol
import CounterfoilResource
import Foundation
import Hummingbird
import Logging
import NIOCore

/// The program `mcp-server`, an example of an MCP server that accepts access tokens.
@main
struct MCPServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp-server",
        abstract:
            "An example MCP server with notes of users, which accepts the access tokens of an authorization server.",
        discussion: """
            Example:
              mcp-server --issuer http://127.0.0.1:8080 \\
                  --audience http://127.0.0.1:8091/mcp --listen 127.0.0.1:8091

            The tool list_notes lists your notes (scope notes.read).
            The tool add_note adds one (scope notes.write, which includes notes.read).
            Without the scope, a call gets 403 with a challenge that names both scopes.

            The server speaks MCP 2026-07-28, and 2025-11-25 and older, over Streamable HTTP.
            A client finds the authorization server by the URL of --audience alone (RFC 9728).

            With --client-id and --client-secret-file, the server introspects each token.
            `counterfoil-server resource create` prints both.

            The notes are stored in memory only. They are lost when the program ends.
            """
    )

    @Option(help: "The URL of the authorization server whose tokens are accepted.", transform: Self.issuer)
    var issuer: Issuer

    @Option(
        help: "The URL of the MCP endpoint, which the audience of a token must contain.", transform: Self.endpoint)
    var audience: AbsoluteURI

    @Option(help: "The HOST:PORT to listen on.", transform: ListenAddress.init)
    var listen: ListenAddress

    @Option(help: "The client_id of this server for token introspection.", transform: Self.clientID)
    var clientID: ClientIdentifier?

    @Option(help: "The file with the client_secret of this server.", transform: Self.secret(inFile:))
    var clientSecretFile: ClientSecret?

    @Flag(help: "Refuse tokens that are not bound to a key.")
    var boundTokensOnly = false

    @Flag(help: "Omit scopes_supported from the metadata, to test clients.")
    var withoutScopes = false

    @Option(
        help: "The origin of a page that may call this server, such as http://localhost:6274; can be repeated.",
        transform: Self.origin)
    var allowOrigin: [String] = []

    func validate() throws {
        guard (clientID == nil) == (clientSecretFile == nil) else {
            throw ValidationError("Pass --client-id and --client-secret-file together.")
        }
    }

    /// The server that the arguments describe.
    func server() throws -> MCPServer {
        var introspection: TokenIntrospection?
        if let clientID, let clientSecretFile {
            introspection = TokenIntrospection(clientID: clientID, clientSecret: clientSecretFile)
        }
        let resourceServer = ResourceServer(
            issuer: issuer, audience: audience.rawValue, introspection: introspection,
            proofs: ProofPolicy(requiresBoundTokens: boundTokensOnly, nonces: .offered()),
            scopeHierarchy: try ScopeHierarchy(["notes.write": "notes.read"]),
            publishing: ResourceDescription(
                scopes: withoutScopes ? Scope() : try Scope(parsing: "notes.read"), name: "Notes"))
        return try MCPServer(resourceServer: resourceServer, path: audience.path, allowedOrigins: allowOrigin)
    }

    func run() async throws {
        var logger = Logger(label: "mcp-server")
        logger.logLevel = .warning
        let url = audience.rawValue
        let application = Application(
            router: try server().router(),
            configuration: ApplicationConfiguration(
                address: .hostname(listen.host, port: listen.port), serverName: "mcp-server"),
            onServerRunning: { _ in
                FileHandle.standardOutput.write(Data("mcp-server serves \(url) on \(listen)\n".utf8))
            },
            logger: logger
        )
        do { try await application.runService() } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw Failure(description: "cannot listen on \(listen): another program uses this port; choose another one")
        }
    }

    /// The error thrown if the server cannot start; its description is the error message of the command.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
