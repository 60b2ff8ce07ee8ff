import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct ClientDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an app, with all consent that users gave to it.",
        discussion: """
            There is no confirmation, and the deletion cannot be undone. The client_id, the secrets and all consent \
            are deleted, and pending authorization codes can no longer be redeemed.

            Example:
              counterfoil-server app delete CLIENT_ID --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            // An app is deleted even if its record cannot be read.
            let client = try await server.readableClient(argument)
            let answer = try await server.change(.delete, argument.path)
            // If the deletion of this app was interrupted, there is no such app any more, but records are left.
            try await server.finishRemovals()
            if answer.status == .notFound { throw try await server.failure(ofMissing: argument) }
            try answer.accepted()
            if options.json {
                return try Output.json(client ?? AdministrationRecord(["client_id": .string(argument.clientID)]))
            }
            let title = client.map { ClientOutput($0).title } ?? argument.clientID.visible
            Output.line("Deleted \(title), with all consent that users gave to it.")
        }
    }
}
