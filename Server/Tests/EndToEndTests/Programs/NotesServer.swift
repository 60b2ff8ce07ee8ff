import Foundation
import TestSupport

/// The sample MCP server, which accepts the tokens of a site.
struct NotesServer: Sendable {
    /// The URL of its endpoint.
    let url: String
    private let port: ReservedPort

    /// Registers the server and its scopes at a site that does not run yet.
    ///
    /// - Parameter areScopesListed: Whether clients that no person registered can request the scopes.
    init(registeredAt site: Site, areScopesListed: Bool = false) async throws {
        port = try ReservedPort()
        url = "http://127.0.0.1:\(port.number)/mcp"
        let options = areScopesListed ? ["--listed"] : []
        try await site.addScope("notes.read", "Read your notes", options: options)
        try await site.addScope("notes.write", "Add notes", options: options)
        let created = try await site.administer([
            "resource", "create", url, "--name", "Notes", "--scope", "notes.read", "--scope", "notes.write",
        ])
        guard created.status == 0 else { throw Site.Refused(description: created.errors) }
    }

    /// Runs the server until `body` returns.
    func serving<Result>(
        for site: Site, options: [String] = [], _ body: () async throws -> Result
    ) async throws -> Result {
        let program = try RunningProgram(
            .mcpServer,
            ["--issuer", site.issuer, "--audience", url, "--listen", "127.0.0.1:\(port.number)"] + options,
            in: site.folder)
        return try await program.whileRunning {
            _ = try await program.said("that it listens") { $0.output.contains("mcp-server serves ") ? true : nil }
            return try await body()
        }
    }
}
