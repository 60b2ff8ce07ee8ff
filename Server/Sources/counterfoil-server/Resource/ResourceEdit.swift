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
        if let name { try ResourceOptions.check(name: name) }
        try properties.checkScopes()
    }

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard name != nil || properties.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server resource edit --help")
        }
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.resource(registered.uri)
            var draft = APIDraft(former)
            if let name { draft.name = name }
            properties.write(into: &draft)
            do {
                guard let api = try await installation.registry.change(former, to: draft) else {
                    throw CommandFailure.deletedMeanwhile
                }
                try ResourceDocument(api).print(json: options.json)
            } catch let refusal as APIRefusal { throw CommandFailure.refused(refusal, properties.scope) }
        }
    }
}
