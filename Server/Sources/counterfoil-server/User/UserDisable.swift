import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let account = try await installation.account(argument.name)
            try installation.require(try await installation.users.disable(account.id), of: account.username)
            guard options.json else { return Output.line("Disabled the user \(account.username).") }
            guard let user = try await installation.account(argument.name).user else {
                return try Output.json(
                    Disabled(sub: account.id.rawValue, username: account.username.rawValue, disabled: true))
            }
            try Output.json(UserDocument(user))
        }
    }

    /// The known values of a user whose record this version cannot read.
    private struct Disabled: Encodable {
        let sub: String
        let username: String
        let disabled: Bool
    }
}
