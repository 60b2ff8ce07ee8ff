import ArgumentParser
import CounterfoilServer
import HTTPTypes

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

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let (path, api) = try await server.api(registered)
            try await server.change(.delete, path).accepted(missing: registered.notFound)
            if options.json { return try Output.json(api) }
            Output.line("Deleted \(DisplayName(api.text("name") ?? "")), \(api.shown("resource")).")
        }
    }
}
