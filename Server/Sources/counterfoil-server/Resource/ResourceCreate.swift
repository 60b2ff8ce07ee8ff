import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation

struct ResourceCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Register an API.",
        discussion: """
            Clients request tokens for the API with the resource parameter (RFC 8707). Its URI is the audience (aud) \
            of those tokens. The API uses the printed client_id and client_secret to introspect tokens (RFC 7662). \
            The secret is printed only once.

            The type of access tokens is at+jwt (RFC 9068). If the library of the API refuses that type, register the \
            API with --jwt-type jwt.

            Example:
              counterfoil-server resource create https://api.example.com \\
                --name "Photo library" --scope photos.read --data-dir ./data
            """
    )

    @Argument(help: "The URI of the API, absolute and without a fragment.")
    var uri: String

    @Option(name: .long, help: "The name shown to users, 1 to 100 characters.")
    var name: String

    @OptionGroup var properties: ResourceOptions

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        do { _ = try Resource(uri) } catch { throw ValidationError("\(error)") }
        guard uri.utf8.count <= 2048 else {
            throw ValidationError("The URI of the API must not be longer than 2048 bytes.")
        }
        _ = try ResourceOptions.checked(name: name)
        guard !properties.scopes.isEmpty else {
            throw ValidationError(
                "An API needs at least one scope, because users consent to scopes. Name one with --scope.")
        }
        try properties.checkScopes()
    }

    func run() async throws {
        guard let clientID = RegisteredResource.newClientID() else { return }
        let secret = ClientSecret()
        let indicator = try Resource(uri)
        let checkedName = try ResourceOptions.checked(name: name)
        try await options.withInstallation { installation in
            let resource = RegisteredResource(
                resource: indicator,
                clientID: clientID,
                name: checkedName,
                scope: properties.scope,
                tokenType: properties.tokenType ?? .atJWT,
                requiresBoundTokens: properties.requiresBoundTokens ?? false,
                secret: ArtefactDigest(of: secret),
                createdAt: installation.store.now()
            )
            let event = installation.event(.setting, detail: "registered the API \(uri)")
            switch try await installation.store.addResource(resource, recording: [event]) {
            case .added:
                try ResourceDocument(resource, newSecret: secret).print(json: options.json)
            case .exists:
                let existing = try await installation.store.resource(resource.resource)?.resource.rawValue ?? uri
                throw CommandFailure.refused(
                    existing == uri
                        ? "an API with the URI \(uri) is already registered"
                        : "an API with the URI \(existing) is already registered, which is the same as \(uri)")
            case .unknownScopes(let unknown): throw CommandFailure.unknownScopes(unknown)
            }
        }
    }
}
