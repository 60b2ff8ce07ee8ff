import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct ResourceEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the name, scopes or access tokens of an API.",
        discussion: """
            Only the given options change, and --scope replaces the whole list. The next tokens for the API follow the \
            change. Tokens that are already issued keep their type until they expire, so the API must accept both \
            types until then.

            Example:
              counterfoil-server resource edit https://api.example.com --jwt-type jwt \\
                --data-dir ./data
            """
    )

    @OptionGroup var registered: ResourceArgument

    @Option(name: .long, help: "The name shown to users, 1 to 100 characters.")
    var name: String?

    @OptionGroup var properties: ResourceOptions

    @OptionGroup var options: OperationOptions

    func validate() throws {
        if let name { try ResourceOptions.check(name: name) }
        try properties.checkScopes()
    }

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard name != nil || properties.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server resource edit --help")
        }
        var members: [String: JSONValue] = [:]
        if let name { members["name"] = .string(name) }
        properties.write(into: &members)
        try await options.withServer { server in
            let (path, former) = try await server.api(registered)
            let api = try await server.change(.patch, path, ifMatch: former.tag, members)
                .record(options: ResourceOptions.options, missing: registered.notFound)
            try ResourceOutput(api).print(json: options.json)
        }
    }
}
