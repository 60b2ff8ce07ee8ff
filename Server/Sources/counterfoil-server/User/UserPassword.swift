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

    @OptionGroup var user: UserArgument

    @OptionGroup var secret: PasswordOption

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        let line = try secret.readLine()
        try await options.withInstallation(creating: false) { installation in
            let person = try await installation.person(user.name)
            let password = try PasswordOption.password(line, for: person.username)
            let hash = try await PasswordHasher().hash(password)
            let event = installation.event(.passwordChange, person: person.id, detail: "new password")
            let outcome = try await installation.store.changePassword(
                of: person.id, from: person.passwordHash, to: hash, keeping: nil, at: event.at, recording: [event])
            switch outcome {
            case .changed:
                if options.json { return try Output.json(UserDocument(person)) }
                Output.line("Changed the password of \(person.username), and ended all sessions.")
            case .changedMeanwhile:
                throw CommandFailure.temporary("the password was changed at the same time; try again")
            case .personNotActive:
                throw CommandFailure.refused(
                    "the user \(person.username) is disabled; enable the account first with: "
                        + "counterfoil-server user enable \(person.username)")
            }
        }
    }
}
