import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `resource create`.
struct ResourceCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Register an API.",
        discussion: """
            Applications ask for tokens for it with the parameter resource (RFC 8707), and its URI is the aud of those \
            tokens. With the client_id and the client_secret that are printed it can ask what a token is worth (RFC 7662); \
            the secret is printed once.

            Example:
              counterfoil-server resource create https://api.example.com \\
                --name "Photo library" --scope photos.read --data-dir ./data
            """
    )

    @Argument(help: "Its indicator: an absolute URI without a fragment.")
    var uri: String

    @Option(name: .long, help: "The name that people read, 1 to 100 characters.")
    var name: String

    @Option(name: .customLong("scope"), help: "A scope that means something to it; repeat for more than one.")
    var scopes: [String] = []

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        do { _ = try Resource(uri) } catch { throw ValidationError("\(error)") }
        guard uri.utf8.count <= 2048 else { throw ValidationError("The indicator is longer than 2048 bytes.") }
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...100).contains(name.count) else {
            throw ValidationError("The name of an API is 1 to 100 characters.")
        }
        guard !scopes.isEmpty else {
            throw ValidationError("An API has at least one scope: what people allow are scopes. Name one with --scope.")
        }
        for scope in scopes where Scope.Token(scope) == nil {
            throw ValidationError("\(scope) is not the name of a scope.")
        }
    }

    func run() async throws {
        guard let clientID = RegisteredResource.newClientID() else { return }
        let secret = ClientSecret()
        let resource = RegisteredResource(
            resource: try Resource(uri),
            clientID: clientID,
            name: name.trimmingCharacters(in: .whitespacesAndNewlines),
            scope: Scope(scopes.compactMap(Scope.Token.init(_:))),
            secret: ArtefactDigest(of: secret),
            createdAt: Date()
        )
        try await options.withDirectory { directory in
            switch try await directory.store.addResource(resource) {
            case .added:
                try await directory.noteResource("the API \(uri) was registered")
                try ResourceDocument(resource, newSecret: secret).print(json: options.json)
            case .exists: throw CommandFailure.refused("there is already an API with the indicator \(uri)")
            case .unknownScopes(let unknown): throw CommandFailure.unknownScopes(unknown)
            }
        }
    }
}
