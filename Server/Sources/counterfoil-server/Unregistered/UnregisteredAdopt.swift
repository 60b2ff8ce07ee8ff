import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct UnregisteredAdopt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Make an app with a document a registered app.",
        discussion: """
            The server keeps the app as its document describes it now, and never reads the document or its keys again. \
            The app gets the scopes and lifetimes that the policy allows now. Users keep what they have allowed. Edit the app with: app edit. To register an app that no user has \
            allowed anything yet, use: app create --client-id URL.

            Example:
              counterfoil-server unregistered adopt https://app.example.com/client.json \\
                --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let client = try await installation.unregisteredClient(argument.clientID).client
            guard client.documentHost != nil else {
                throw CommandFailure.refused(
                    "the app \(client.id) registered itself and has no document; register it with app create")
            }
            let outcome = try await installation.clients.adopt(
                client, under: try await installation.store.unregisteredClientPolicy(),
                of: try await installation.store.scopes())
            switch outcome {
            case .updated:
                let document = ClientDocument(ClientRecord(try await installation.client(argument.clientID)))
                if options.json { return try Output.json(document) }
                Output.line(document.words)
            case .changedMeanwhile:
                throw CommandFailure.temporary("the app was changed at the same time; try again")
            case .notFound: throw CommandFailure.noUnregisteredClient(argument.clientID)
            case .unknownScopes(let unknown): throw CommandFailure.unknownScopes(unknown)
            }
        }
    }
}
