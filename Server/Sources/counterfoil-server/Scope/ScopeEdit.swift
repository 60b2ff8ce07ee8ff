import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct ScopeEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the texts or options of a scope.",
        discussion: """
            Only the given options change. A running server shows the change on its next page. Existing consent stays \
            valid, so create a new scope for a different permission. The same is true of the claims that a scope \
            releases: describe them in its text.

            Examples:
              counterfoil-server scope edit photos.read --listed --data-dir ./data
              counterfoil-server scope edit directory --claims groups,department \
                --claims-in id_token,access_token,userinfo --data-dir ./data
            """
    )

    @OptionGroup var existing: ScopeArgument

    @Option(name: .long, help: ScopeOptions.descriptionHelp)
    var description: String?

    @OptionGroup var properties: ScopeOptions

    @OptionGroup var options: OperationOptions

    func validate() throws {
        if let description { try ScopeOptions.check(description) }
    }

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard description != nil || properties.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server scope edit --help")
        }
        var members: [String: JSONValue] = [:]
        if let description { members["description"] = .string(description) }
        properties.write(into: &members)
        try await options.withServer { server in
            let former = try await server.change(.get, existing.path).record(missing: existing.notFound)
            let scope = try await server.change(.patch, existing.path, ifMatch: former.tag, members)
                .record(options: ScopeOptions.options, missing: existing.notFound)
            try ScopeOutput(scope).print(json: options.json)
        }
    }
}
