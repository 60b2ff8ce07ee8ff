import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens

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

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        if let name { _ = try ResourceOptions.checked(name: name) }
        try properties.checkScopes()
    }

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard name != nil || properties.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server resource edit --help")
        }
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.resource(registered.uri)
            var resource = former
            if let name { resource.name = try ResourceOptions.checked(name: name) }
            if !properties.scopes.isEmpty { resource.scope = properties.scope }
            if let tokenType = properties.tokenType { resource.tokenType = tokenType }
            if let isRequired = properties.requiresBoundTokens { resource.requiresBoundTokens = isRequired }
            let event = installation.event(
                .setting,
                detail: "changed the API \(resource.resource), jwt_type \(resource.tokenType.rawValue)"
                    + (resource.requiresBoundTokens ? ", bound tokens only" : ""))
            switch try await installation.store.updateResource(resource, from: former, recording: [event]) {
            case .updated:
                try ResourceDocument(resource).print(json: options.json)
            case .changedMeanwhile:
                throw CommandFailure.temporary("the API was changed at the same time; try again")
            case .notFound: throw CommandFailure.temporary("another command has just deleted this API")
            case .unknownScopes(let unknown): throw CommandFailure.unknownScopes(unknown)
            }
        }
    }
}
