import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct UnregisteredDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an unregistered app, with all consent that users gave to it.",
        discussion: """
            There is no confirmation, and the deletion cannot be undone. All consent and every token of the app end at \
            once. Users can allow an app with a document something again, unless the policy refuses it. A suspended \
            app with a document is not deleted, because that would end its suspension.

            Example:
              counterfoil-server unregistered delete https://app.example.com/client.json \\
                --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            // An app is deleted even if the server cannot read its record.
            let app = try? await server.change(.get, argument.unregisteredPath).record()
            let answer = try await server.change(.delete, argument.unregisteredPath)
            // If the deletion of this app was interrupted, there is no such app any more, but records are left.
            try await server.finishRemovals()
            guard answer.status != .notFound else { throw try await server.notUnregistered(argument) }
            try answer.accepted()
            if options.json {
                return try Output.json(app ?? AdministrationRecord(["client_id": .string(argument.clientID)]))
            }
            let name = app?.text("client_name").map { "\(DisplayName($0)), " } ?? ""
            Output.line("Deleted \(name)\(argument.clientID), with all consent that users gave to it.")
        }
    }
}
