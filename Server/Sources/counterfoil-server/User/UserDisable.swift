import ArgumentParser
import HTTPTypes

struct UserDisable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disable a user.",
        discussion: """
            All sessions of the user end, and introspection reports the tokens of the user as inactive. The user \
            cannot sign in until you enable the account again with: user enable NAME.

            Example:
              counterfoil-server user disable alice --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            guard let user = try await server.account(argument) else { throw argument.notFound }
            let disabled = try await server.change(.post, user.userPath + "/disable")
                .record(missing: argument.notFound, refusals: ["last-owner": .lastOwner(user.username)])
            if options.json { return try Output.json(disabled) }
            Output.line("Disabled the user \(user.username).")
        }
    }
}
