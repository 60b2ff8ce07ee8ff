import ArgumentParser
import CounterfoilServer

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

    @OptionGroup var options: OperationOptions

    func run() async throws {
        guard !options.remote.isGiven else {
            return try await options.withServer { server in
                let states = try await server.items(of: "/server-keys").map { try $0.decoded(as: ServerKeyState.self) }
                try print(try await server.signingKeys(), serverKeys: states)
            }
        }
        // The settings of this machine say when a server key was the first one.
        try await options.location.withInstallation(creating: false) { installation in
            let keys = try await LocalTransport(installation).signingKeys()
            try print(keys, serverKeys: try await ServerKeyState.all(of: installation))
        }
    }

    private func print(_ keys: [AdministrationRecord], serverKeys: [ServerKeyState]) throws {
        if options.json { return try Output.json(Report(signingKeys: keys, serverKeys: serverKeys)) }
        if keys.isEmpty {
            Output.line("There are no signing keys yet. The first start of the server creates them.")
        }
        for key in keys { Output.line(KeyOutput.line(key)) }
        Output.line("")
        Output.line("Server keys:")
        for line in serverKeys.flatMap(\.lines) { Output.line(line) }
    }

    private struct Report: Encodable {
        let signingKeys: [AdministrationRecord]
        let serverKeys: [ServerKeyState]

        private enum CodingKeys: String, CodingKey {
            case signingKeys = "signing_keys"
            case serverKeys = "server_keys"
        }
    }
}
