import ArgumentParser
import HTTPTypes

struct UserEnable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Enable a disabled user again.",
        discussion: """
            The user can sign in again, and tokens that apps had before are valid again until they expire.

            Example:
              counterfoil-server user enable alice --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let user = try await server.user(argument)
            let enabled = try await server.change(.post, user.userPath + "/enable").record(missing: argument.notFound)
            if options.json { return try Output.json(enabled) }
            Output.line("Enabled the user \(user.username).")
        }
    }
}
