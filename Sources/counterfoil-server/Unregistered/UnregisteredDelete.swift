import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

struct UnregisteredDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an unregistered app, with all consent that users gave to it.",
        discussion: """
            There is no confirmation, and the deletion cannot be undone. All consent and every token of the app end at \
            once. Users can allow an app with a document something again, unless the policy refuses it.

            Example:
              counterfoil-server unregistered delete https://app.example.com/client.json \\
                --data-dir ./data
            """
    )

    @OptionGroup var app: AppArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            // If the deletion of this app was interrupted, there is no such app any more, but records are left.
            try await directory.finishRemovals()
            let use = try await directory.unregisteredClient(app.clientID)
            let event = directory.event(.application, client: use.client.id, detail: "deleted, unregistered")
            guard try await directory.store.removeUnregisteredClient(use.client.id, recording: [event]) else {
                throw CommandFailure.noUnregisteredApp(app.clientID)
            }
            try await directory.finishRemovals()
            if options.json { return try Output.json(UnregisteredClientDocument(use)) }
            Output.line(
                "Deleted \(use.client.displayName), \(use.client.id), with all consent that users gave to it.")
        }
    }
}
