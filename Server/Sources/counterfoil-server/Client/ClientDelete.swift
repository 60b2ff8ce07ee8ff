import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let absent = CommandFailure.noClient(argument.clientID)
            let (id, client) = try await installation.deletableClient(argument, otherwise: absent)
            guard !client.isUnregistered else { throw CommandFailure.unregistered(id) }
            let record = try await StoreFault.readable { () async throws(StoreFault) in
                try await installation.store.client(id)
            }
            guard try await installation.clients.delete(id) else { throw absent }
            try await installation.finishRemovals()
            guard options.json else { return Output.line(deletedClient: id, named: record?.displayName) }
            guard let record else { return try Output.json(DeletedClientDocument(id)) }
            try Output.json(ClientRecord(record))
        }
    }
}
