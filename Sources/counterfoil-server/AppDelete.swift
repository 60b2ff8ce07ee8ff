import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

/// `app delete`.
struct AppDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Remove an application with everything that people have allowed it.",
        discussion: """
            Nothing is asked, and nothing brings it back: its client_id, its secrets and every consent are gone, and no \
            code of it can be redeemed any more.

            Example:
              counterfoil-server app delete CLIENT_ID --data-dir ./data
            """
    )

    @Argument(help: "The client_id.")
    var clientID: String

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let client = try await directory.client(clientID)
            guard try await directory.store.removeClient(client.id) else {
                throw CommandFailure.noApplication(clientID)
            }
            await directory.note(.application, client: client.id, detail: "deleted")
            if options.json { return try Output.json(ApplicationDocument(client)) }
            Output.line("Removed \(client.displayName), \(client.id), with everything that people have allowed it.")
        }
    }
}
