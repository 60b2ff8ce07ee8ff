import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

struct KeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the signing keys and their states, oldest first.",
        discussion: """
            A new key is published before it signs, so that APIs and clients can fetch it in time. It signs \
            until its successor does. Then it is retired, and stays published until all tokens that it signed \
            have expired.

            Example:
              counterfoil-server key list --data-dir ./data
            """
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let now = installation.store.now()
            let keys = try await installation.store.signingKeys().map { KeyDocument($0, now: now) }
            if options.json { return try Output.json(keys) }
            if keys.isEmpty {
                return Output.line("There are no signing keys yet. The first start of the server creates them.")
            }
            for key in keys { Output.line(key.words) }
        }
    }
}
