import ArgumentParser
import CounterfoilServer
import HTTPTypes

struct RegistrationTokenRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a token.",
        discussion: """
            No app can register itself with the token from then on. Registered apps stay registered.

            Example:
              counterfoil-server registration-token remove 3f9a1c04b7de --data-dir ./data
            """
    )

    @Argument(help: "The id of the token as printed by list, or its first 4 digits or more.")
    var id: String

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard id.utf8.count >= 4 else {
            throw ValidationError("The id must have at least the first 4 digits that list prints.")
        }
    }

    func run() async throws {
        let notFound = CommandFailure.refused(
            "there is no token with an id that starts with \(EscapedText(id)); see: counterfoil-server "
                + "registration-token list")
        try await options.withServer { server in
            let chosen = try await server.items(of: "/registration-tokens")
                .filter { $0.text("id")?.hasPrefix(id.lowercased()) == true }
            guard let token = chosen.first, let tokenID = token.text("id") else { throw notFound }
            guard chosen.count == 1 else {
                throw CommandFailure.refused(
                    "more than one token has an id that starts with \(EscapedText(id)); give more digits")
            }
            let path = "/registration-tokens/" + AdministrationOperation.segment(tokenID)
            try await server.change(.delete, path).accepted(missing: notFound)
            if options.json { return try Output.json(token) }
            Output.line("Removed the token \(token.shown("id")), \(DisplayName(token.text("name") ?? "")).")
        }
    }
}
