import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct ResourceDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an API.",
        discussion: """
            The API can no longer introspect tokens, and clients can no longer request tokens for it. Tokens that are \
            already issued stay valid until they expire.

            Example:
              counterfoil-server resource delete https://api.example.com --data-dir ./data
            """
    )

    @OptionGroup var registered: ResourceArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let resource = try await installation.resource(registered.uri)
            guard try await installation.registry.delete(resource.resource) else {
                throw CommandFailure.deletedMeanwhile
            }
            if options.json { return try Output.json(ResourceDocument(resource)) }
            Output.line("Deleted \(DisplayName(resource.name)), \(resource.resource).")
        }
    }
}
