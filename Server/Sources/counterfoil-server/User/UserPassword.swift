import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct UserPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set a new password for a user.",
        discussion: """
            At a terminal, the command asks for the password and does not show it. A script writes the password as \
            one line to standard input, with --password-stdin. All sessions of the user end. The passkeys of the \
            user stay, unless --remove-passkeys is given: use it if another person had access to the account. With \
            --must-change-password, you do not know the password for long. With user link, you never do.

            Examples:
              counterfoil-server user password alice --data-dir ./data
              counterfoil-server user password alice --password-stdin \\
                --data-dir ./data < password.txt
            """
    )

    @OptionGroup var argument: UserArgument

    @OptionGroup var secret: PasswordOption

    @Flag(name: .long, help: "Delete all passkeys of the user, too.")
    var removePasskeys = false

    @OptionGroup var options: OperationOptions

    func run() async throws {
        let line = try secret.readLine()
        try await options.withServer { server in
            let user = try await server.user(argument)
            let passkeys = try await server.items(of: user.userPath + "/passkeys").count
            try await server.change(
                .put, user.userPath + "/password",
                [
                    "password": .string(line), "must_change_password": .boolean(secret.mustChangePassword),
                    "remove_passkeys": .boolean(removePasskeys),
                ]
            ).accepted(
                options: ["password": "the password"], missing: argument.notFound,
                refusals: ["user-disabled": .disabled(user.username)])
            if options.json { return try Output.json(try await server.user(argument)) }
            Output.line(
                "Changed the password of \(user.username), and ended all sessions."
                    + words(ofPasskeys: passkeys))
        }
    }

    /// Returns a sentence about the passkeys of the user, whose number is that before the change.
    private func words(ofPasskeys count: Int) -> String {
        guard count > 0 else { return removePasskeys ? " Deleted 0 passkeys." : "" }
        let passkeys = count == 1 ? "1 passkey" : "\(count) passkeys"
        if removePasskeys { return " Deleted \(passkeys)." }
        return " \(passkeys) still \(count == 1 ? "signs" : "sign") the user in; "
            + "to delete \(count == 1 ? "it" : "them"), run the command with --remove-passkeys."
    }
}
