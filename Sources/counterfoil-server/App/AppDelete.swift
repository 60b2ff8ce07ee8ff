import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

struct AppDelete: AsyncParsableCommand {
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

    @OptionGroup var app: AppArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            // If the deletion of this app was interrupted, there is no such app any more, but records are left.
            try await directory.finishRemovals()
            let client = try await directory.client(app.clientID)
            let event = directory.event(.application, client: client.id, detail: "deleted")
            guard try await directory.store.removeClient(client.id, recording: [event]) else {
                throw CommandFailure.noApp(app.clientID)
            }
            try await directory.finishRemovals()
            if options.json { return try Output.json(AppDocument(client)) }
            Output.line("Deleted \(client.displayName), \(client.id), with all consent that users gave to it.")
        }
    }
}
