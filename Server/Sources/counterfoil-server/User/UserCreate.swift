import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

struct UserCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a user.",
        discussion: """
            At a terminal, the command asks for the password and does not show it. A script writes the password as \
            one line to standard input, with --password-stdin. Either way, the password is neither in the arguments \
            nor in the shell history.

            Examples:
              counterfoil-server user create alice --email alice@example.com \\
                --data-dir ./data
              counterfoil-server user create bob --password-stdin --data-dir ./data \\
                < password.txt
              counterfoil-server user create carol --role support --data-dir ./data
            """
    )

    @Argument(help: "The user name: 1 to 64 letters, digits and . _ -")
    var name: String

    @Option(name: .long, help: "The email address, which also works for sign-in.")
    var email: String?

    @Flag(name: .long, help: "Mark the email address as verified (email_verified).")
    var emailVerified = false

    @Option(name: .long, help: ArgumentHelp("The name shown on pages. (default: the user name)", valueName: "name"))
    var displayName: String?

    @OptionGroup var secret: PasswordOption

    @Option(name: .long, help: "The role of the user in the administration of this server.")
    var role: UserRole?

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard Username(name) != nil else {
            throw ValidationError("A user name has 1 to 64 letters, digits and . _ - without spaces.")
        }
        guard email.map({ EmailAddress($0) != nil }) ?? true else {
            throw ValidationError("--email: \(email ?? "") is not a valid email address.")
        }
        guard displayName.map(ClaimFormat.name.accepts) ?? true else {
            throw ValidationError("--display-name: \(ClaimFormat.name.rule)")
        }
        try UserOptions.checkVisible(displayName: displayName)
        guard email != nil || !emailVerified else {
            throw ValidationError("--email-verified needs an address. Name it with --email.")
        }
    }

    func run() async throws {
        guard let username = Username(name) else { return }
        let line = try secret.readLine()
        // A refused password creates no data directory, so the issuer is not known yet.
        try PasswordOption.check(
            line, for: username, email: email.flatMap(EmailAddress.init), displayName: displayName ?? name)
        var members: [String: JSONValue] = [
            "username": .string(name), "password": .string(line),
            "must_change_password": .boolean(secret.mustChangePassword), "email_verified": .boolean(emailVerified),
        ]
        if let email { members["email"] = .string(email) }
        if let displayName { members["name"] = .string(displayName) }
        if let role { members["role"] = .string(role.rawValue) }
        try await options.withServer(creating: true) { server in
            let user = try await server.create("/users", members).record(
                options: ["password": "the password", "name": "--display-name", "role": "--role"],
                refusals: [
                    "username-taken": .refused("a user named \(username) already exists"),
                    "email-taken": .emailTaken(email ?? ""),
                ])
            if options.json { return try Output.json(user) }
            Output.line("Created the user \(user.username).")
        }
    }
}
