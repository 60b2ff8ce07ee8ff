import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

struct ResourceCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Register an API.",
        discussion: """
            Clients request tokens for the API with the resource parameter (RFC 8707). Its URI is the audience (aud) \
            of those tokens. The API uses the printed client_id and client_secret to introspect tokens (RFC 7662). \
            The secret is printed only once.

            Example:
              counterfoil-server resource create https://api.example.com \\
                --name "Photo library" --scope photos.read --data-dir ./data
            """
    )

    @Argument(help: "The URI of the API, absolute and without a fragment.")
    var uri: String

    @Option(name: .long, help: "The name shown to users, 1 to 100 characters.")
    var name: String

    @Option(name: .customLong("scope"), help: "A scope that the API uses. Can be repeated.")
    var scopes: [ScopeNames] = []

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        do { _ = try Resource(uri) } catch { throw ValidationError("\(error)") }
        guard uri.utf8.count <= 2048 else {
            throw ValidationError("The URI of the API must not be longer than 2048 bytes.")
        }
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...100).contains(name.count) else {
            throw ValidationError("The name of an API must be 1 to 100 characters.")
        }
        guard !scopes.isEmpty else {
            throw ValidationError(
                "An API needs at least one scope, because users consent to scopes. Name one with --scope.")
        }
        for scope in scopes.names where Scope.Token(scope) == nil {
            throw ValidationError("--scope: \(scope) is not a valid scope name.")
        }
    }

    func run() async throws {
        guard let clientID = RegisteredResource.newClientID() else { return }
        let secret = ClientSecret()
        let resource = RegisteredResource(
            resource: try Resource(uri),
            clientID: clientID,
            name: name.trimmingCharacters(in: .whitespacesAndNewlines),
            scope: Scope(scopes.names.compactMap(Scope.Token.init(_:))),
            secret: ArtefactDigest(of: secret),
            createdAt: Date()
        )
        try await options.withDirectory { directory in
            switch try await directory.store.addResource(resource) {
            case .added:
                await directory.note(.setting, detail: "registered the API \(uri)")
                try ResourceDocument(resource, newSecret: secret).print(json: options.json)
            case .exists: throw CommandFailure.refused("an API with the URI \(uri) is already registered")
            case .unknownScopes(let unknown): throw CommandFailure.unknownScopes(unknown)
            }
        }
    }
}
