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
            var user = try await installation.user(argument.name)
            user.disabledAt = nil
            let event = installation.event(.account, user: user.id, detail: "enabled")
            try await installation.update(user, recording: event)
            guard options.json else { return Output.line("Enabled the user \(user.username).") }
            try Output.json(UserDocument(try await installation.user(argument.name)))
        }
    }
}
