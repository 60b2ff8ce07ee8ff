import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let absent = CommandFailure.noUnregisteredClient(argument.clientID)
            let (id, client) = try await installation.deletableClient(argument, otherwise: absent)
            guard client.isUnregistered else { throw CommandFailure.registered(id) }
            let use = try await StoreFault.readable { () async throws(StoreFault) in
                try await installation.store.unregisteredClient(id)
            }
            let event = installation.event(.client, client: id, detail: "deleted, unregistered").named(.clientDeleted)
            guard try await installation.store.removeUnregisteredClient(id, recording: [event]) else {
                let left = try await installation.store.unregisteredClient(id)
                guard left?.isKept == true else { throw absent }
                throw CommandFailure.refused(
                    "the app \(id) is suspended, and its deletion would end the suspension; first run app resume \(id)")
            }
            try await installation.finishRemovals()
            guard options.json else { return Output.line(deletedClient: id, named: use?.client.displayName) }
            guard let use else { return try Output.json(DeletedClientDocument(id)) }
            try Output.json(UnregisteredClientDocument(use))
        }
    }
}
