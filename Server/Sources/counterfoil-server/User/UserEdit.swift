import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
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
            let former = try await installation.user(argument.name)
            var user = former
            claims.write(into: &user)
            let event =
                user.email == former.email
                ? installation.event(.account, user: user.id, detail: "changed")
                : try await installation.event(of: .emailChanged, to: former)
            try await installation.update(user, recording: event)
            let document = UserDocument(try await installation.user(argument.name))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
