import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct UserPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set a new password for a user.",
        discussion: """
            At a terminal, the command asks for the password and does not show it. A script writes the password as \
            one line to standard input, with --password-stdin. All sessions of the user end.

            Examples:
              counterfoil-server user password alice --data-dir ./data
              counterfoil-server user password alice --password-stdin \\
                --data-dir ./data < password.txt
            """
    )

    @OptionGroup var argument: UserArgument

    @OptionGroup var secret: PasswordOption

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        let line = try secret.readLine()
        try await options.withInstallation(creating: false) { installation in
            let user = try await installation.user(argument.name)
            let password = try PasswordOption.password(line, for: user.username)
            let hash = try await PasswordHasher().hash(password)
            let event = installation.event(.passwordChange, user: user.id, detail: "new password")
            let outcome = try await installation.store.changePassword(
                of: user.id, from: user.passwordHash, to: hash, keeping: nil, at: event.at, recording: [event])
            switch outcome {
            case .changed:
                if options.json { return try Output.json(UserDocument(user)) }
                Output.line("Changed the password of \(user.username), and ended all sessions.")
            case .changedMeanwhile:
                throw CommandFailure.temporary("the password was changed at the same time; try again")
            case .userNotActive:
                throw CommandFailure.refused(
                    "the user \(user.username) is disabled; enable the account first with: "
                        + "counterfoil-server user enable \(user.username)")
            }
        }
    }
}
