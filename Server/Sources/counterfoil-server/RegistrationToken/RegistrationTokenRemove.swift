import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard id.utf8.count >= 4 else {
            throw ValidationError("The id must have at least the first 4 digits that list prints.")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let chosen = try await installation.store.initialAccessTokens()
                .filter { $0.shortID.hasPrefix(id.lowercased()) }
            guard let token = chosen.first else {
                throw CommandFailure.refused(
                    "there is no token with an id that starts with \(id); see: counterfoil-server registration-token list"
                )
            }
            guard chosen.count == 1 else {
                throw CommandFailure.refused("more than one token has an id that starts with \(id); give more digits")
            }
            guard try await installation.administration.remove(token) else {
                throw CommandFailure.temporary("another command has just removed this token")
            }
            if options.json { return try Output.json(RegistrationTokenDocument(token)) }
            Output.line("Removed the token \(token.shortID), \(DisplayName(token.name)).")
        }
    }
}
