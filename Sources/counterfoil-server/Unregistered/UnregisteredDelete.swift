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
            guard let id = ClientIdentifier(app.clientID),
                let client = try await directory.store.clientOwnership(id)
            else {
                // If the deletion of this app was interrupted, there is no such app any more, but records are left.
                try await directory.finishRemovals()
                throw CommandFailure.noUnregisteredApp(app.clientID)
            }
            guard client.isUnregistered else { throw CommandFailure.registered(id) }
            let use = try await StoreFault.readable { () async throws(StoreFault) in
                try await directory.store.unregisteredClient(id)
            }
            let event = directory.event(.application, client: id, detail: "deleted, unregistered")
            guard try await directory.store.removeUnregisteredClient(id, recording: [event]) else {
                throw CommandFailure.noUnregisteredApp(app.clientID)
            }
            try await directory.finishRemovals()
            guard options.json else {
                let name = use.map { "\($0.client.displayName), " } ?? ""
                return Output.line("Deleted \(name)\(id), with all consent that users gave to it.")
            }
            guard let use else { return try Output.json(DeletedClientDocument(id)) }
            try Output.json(UnregisteredClientDocument(use))
        }
    }
}
