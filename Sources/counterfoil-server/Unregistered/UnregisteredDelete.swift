import ArgumentParser
import CounterfoilProtocol
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
            let absent = CommandFailure.noUnregisteredApp(app.clientID)
            let (id, client) = try await directory.deletableClient(app, otherwise: absent)
            guard client.isUnregistered else { throw CommandFailure.registered(id) }
            let use = try await StoreFault.readable { () async throws(StoreFault) in
                try await directory.store.unregisteredClient(id)
            }
            let event = directory.event(.application, client: id, detail: "deleted, unregistered")
            guard try await directory.store.removeUnregisteredClient(id, recording: [event]) else { throw absent }
            try await directory.finishRemovals()
            guard options.json else { return Output.line(deletedClient: id, named: use?.client.displayName) }
            guard let use else { return try Output.json(DeletedClientDocument(id)) }
            try Output.json(UnregisteredClientDocument(use))
        }
    }
}
