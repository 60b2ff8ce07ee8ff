import ArgumentParser
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

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

    @OptionGroup var options: OperationOptions

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
        var members: [String: JSONValue] = ["resource": .string(uri), "name": .string(name)]
        properties.write(into: &members)
        try await options.withServer(creating: true) { server in
            let api = try await server.create("/apis", members)
                .record(options: ResourceOptions.options.merging(["resource": uri]) { $1 })
            try ResourceOutput(api).print(json: options.json)
        }
    }
}
