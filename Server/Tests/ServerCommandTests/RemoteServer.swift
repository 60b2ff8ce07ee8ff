import CounterfoilClient
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// A running server with the administration API, and a token with which commands use it.
struct RemoteServer {
    /// The server, for commands on its store.
    let site: Site
    let token: AccessToken
    private let tokenFile: String
    private let secret: ClientSecret
    private let clientID: String

    private struct Client: Decodable {
        let client_id: String
        let client_secret: String
    }

    /// The options of a command that uses the API.
    var options: [String] { ["--remote", site.issuer, "--token-file", tokenFile] }

    /// Runs `body` with a server, and a token for some rights, such as `users:read`.
    static func run<Result>(
        _ rights: [String], options: [String] = [], _ body: (RemoteServer) async throws -> Result
    ) async throws -> Result {
        try await Site.make { site in
            try await site.start(options: ["--administration-api"] + options).whileRunning {
                _ = try await Waiting.until("the scopes of the API") { () async throws -> Bool? in
                    let list = try await site.administer(["scope", "list"]).output
                    return scopes(of: rights).allSatisfy(list.contains) ? true : nil
                }
                let created = try await site.administer(
                    ["app", "create", "--type", "service", "--name", "Deployment", "--json"]
                        + scopes(of: rights).flatMap { ["--scope", $0] })
                let client = try JSONDecoder().decode(Client.self, from: Data(created.output.utf8))
                return try await body(
                    RemoteServer(
                        site: site, rights: rights, clientID: client.client_id,
                        secret: try #require(ClientSecret(client.client_secret))))
            }
        }
    }

    private init(site: Site, rights: [String], clientID: String, secret: ClientSecret) async throws {
        let signIn = try ServiceSignIn(
            issuer: site.issuer, clientID: clientID, authentication: .secret(secret),
            scope: Self.scopes(of: rights).joined(separator: " "))
        token = try await signIn.run().accessToken
        tokenFile = site.folder.path("token-\(UUID().uuidString)")
        try Data((token.exposed + "\n").utf8).write(to: URL(fileURLWithPath: tokenFile))
        chmod(tokenFile, 0o600)
        (self.site, self.clientID, self.secret) = (site, clientID, secret)
    }

    private static func scopes(of rights: [String]) -> [String] { rights.map { "counterfoil.admin.\($0)" } }

    /// Returns the server with a token that has only some of the rights.
    func limited(to rights: [String]) async throws -> RemoteServer {
        try await RemoteServer(site: site, rights: rights, clientID: clientID, secret: secret)
    }

    /// Runs a command over the API.
    func run(_ arguments: [String], input: String? = nil) async throws -> EndedProgram {
        try await site.server(arguments + options, input: input)
    }

    /// Runs a command on the store and over the API, expects the same from both, and returns what the API gave.
    ///
    /// - Parameters:
    ///   - names: Names over the API, with those that the command on the store has in their place.
    ///   - pattern: The parts of the output and of the errors that can differ.
    ///   - status: The expected exit code.
    @discardableResult
    func compare(
        _ arguments: [String], onStore names: [String: String] = [:], ignoring pattern: Regex<Substring>? = nil,
        status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> EndedProgram {
        func replaced(_ text: String, with names: [String: String]) -> String {
            names.reduce(text) { $0.replacing($1.key, with: $1.value) }
        }
        let remoteNames = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })
        func compared(_ text: String) -> String { pattern.map { text.replacing($0, with: "…") } ?? text }
        let stored = try await site.administer(arguments.map { replaced($0, with: names) })
        let remote = try await run(arguments)
        #expect(stored.status == status, "\(arguments): \(stored.errors)", sourceLocation: sourceLocation)
        #expect(remote.status == status, "\(arguments): \(remote.errors)", sourceLocation: sourceLocation)
        for (stored, remote) in [(stored.output, remote.output), (stored.errors, remote.errors)] {
            let expected = compared(replaced(stored, with: remoteNames))
            #expect(compared(remote) == expected, "\(arguments)", sourceLocation: sourceLocation)
        }
        return remote
    }
}
