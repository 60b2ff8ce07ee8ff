import ArgumentParser
import HTTPTypes

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

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let user = try await server.user(argument)
            try await server.change(.delete, user.userPath + "/second-factor")
                .accepted(missing: .refused("the user \(user.username) has no second factor"))
            if options.json { return try Output.json(try await server.user(argument)) }
            Output.line("Removed the second factor of \(user.username), and the recovery codes.")
        }
    }
}
