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
        try ResourceOptions.check(name: name)
        guard !properties.scopes.isEmpty else {
            throw ValidationError(
                "An API needs at least one scope, because users consent to scopes. Name one with --scope.")
        }
        try properties.checkScopes()
    }

    func run() async throws {
        var draft = APIDraft()
        draft.uri = uri
        draft.name = name
        properties.write(into: &draft)
        try await options.withInstallation { installation in
            do {
                let (api, secret) = try await installation.registry.add(draft)
                try ResourceDocument(api, newSecret: secret).print(json: options.json)
            } catch let refusal as APIRefusal {
                guard refusal.problems.contains(where: { $0.field == .uri }) else {
                    throw CommandFailure.refused(refusal, properties.scope)
                }
                let existing = try await installation.store.resource(try Resource(uri))?.resource.rawValue ?? uri
                throw CommandFailure.refused(
                    existing == uri
                        ? "an API with the URI \(uri) is already registered"
                        : "an API with the URI \(existing) is already registered, which is the same as \(uri)")
            }
        }
    }
}
