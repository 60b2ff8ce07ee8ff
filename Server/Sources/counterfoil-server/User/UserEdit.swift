import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

struct UserEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the claims of a user.",
        discussion: """
            Only the given options change, and an empty value clears: --nickname "". Clients get the new values with \
            their next request.

            Example:
              counterfoil-server user edit alice --given-name Alice \\
                --zoneinfo Europe/Oslo --email-verified true --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @OptionGroup(title: "Claims") var claims: UserOptions

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard claims.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server user edit --help")
        }
        try await options.withInstallation(creating: false) { installation in
            var user = try await installation.user(argument.name)
            claims.write(into: &user)
            try await installation.update(user, at: installation.store.now(), recording: "changed")
            let document = UserDocument(try await installation.user(argument.name))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
