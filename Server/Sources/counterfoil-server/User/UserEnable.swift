import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let user = try await installation.user(argument.name)
            try installation.require(try await installation.users.enable(user.id), of: user.username)
            guard options.json else { return Output.line("Enabled the user \(user.username).") }
            try Output.json(UserDocument(try await installation.user(argument.name)))
        }
    }
}
