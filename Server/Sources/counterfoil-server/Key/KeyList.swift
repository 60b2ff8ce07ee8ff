import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

struct KeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the signing keys, and what still needs each server key.",
        discussion: """
            A new key is published before it signs, so that APIs and clients can fetch it in time. It signs \
            until its successor does. Then it is retired, and stays published until all tokens that it signed \
            have expired. The list begins with the oldest one.

            The server keys follow, each by a fingerprint that tells nothing about the key. The first one makes \
            everything. A former one is needed until its signing keys are deleted and its refresh tokens were used or \
            have expired. A client that ignores the refresh token of a response needs it for longer.

            Example:
              counterfoil-server key list --data-dir ./data
            """
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let keys = try await installation.signingKeyUses(at: installation.store.now()).map(KeyDocument.init)
            let serverKeys = try await ServerKeyState.all(of: installation)
            if options.json { return try Output.json(Report(signingKeys: keys, serverKeys: serverKeys)) }
            if keys.isEmpty {
                Output.line("There are no signing keys yet. The first start of the server creates them.")
            }
            for key in keys { Output.line(key.words) }
            Output.line("")
            Output.line("Server keys:")
            for line in serverKeys.flatMap(\.lines) { Output.line(line) }
        }
    }

    private struct Report: Encodable {
        let signingKeys: [KeyDocument]
        let serverKeys: [ServerKeyState]

        private enum CodingKeys: String, CodingKey {
            case signingKeys = "signing_keys"
            case serverKeys = "server_keys"
        }
    }
}
