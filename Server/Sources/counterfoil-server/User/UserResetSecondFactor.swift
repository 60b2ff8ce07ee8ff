import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct UserResetSecondFactor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-second-factor",
        abstract: "Remove the second factor of a user.",
        discussion: """
            Use it for a user who has lost the authenticator app, the security keys and the recovery codes. The \
            user signs in with the password alone until a new second factor is set up, at once if --second-factor of serve requires one. \
            Make sure that the request comes from the user: afterwards, the password alone signs in.

            Example:
              counterfoil-server user reset-second-factor alice --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let user = try await installation.user(argument.name)
            guard try await installation.users.resetSecondFactor(of: user) else {
                throw CommandFailure.refused("the user \(user.username) has no second factor")
            }
            if options.json { return try Output.json(UserDocument(user)) }
            Output.line("Removed the second factor of \(user.username), and the recovery codes.")
        }
    }
}
