import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

/// `resource delete`.
struct ResourceDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Remove an API.",
        discussion: """
            It cannot ask about tokens any more, and no application can ask for tokens for it. Tokens that are out stay what \
            they are until they end.

            Example:
              counterfoil-server resource delete https://api.example.com --data-dir ./data
            """
    )

    @Argument(help: "The indicator of the API.")
    var uri: String

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let resource = try await directory.resource(uri)
            guard try await directory.store.removeResource(resource.resource) else {
                throw CommandFailure.mayPass("the API was removed by somebody else meanwhile")
            }
            try await directory.noteResource("the API \(resource.resource) was removed")
            if options.json { return try Output.json(ResourceDocument(resource)) }
            Output.line("Removed \(DisplayName(resource.name)), \(resource.resource).")
        }
    }
}
