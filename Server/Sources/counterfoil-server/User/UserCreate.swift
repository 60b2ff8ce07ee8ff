import ArgumentParser
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

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

    @OptionGroup var options: AdministrationOptions

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
        let address = email.flatMap(EmailAddress.init)
        // A refused password creates no data directory, so the issuer is not known yet.
        let password = try PasswordOption.password(
            try secret.readLine(), for: username, email: address, displayName: displayName ?? name, at: nil)
        try await options.withInstallation { installation in
            let created = User(
                creating: name, email: address, isEmailVerified: emailVerified, displayName: displayName,
                passwordHash: try await PasswordHasher().hash(password), role: role,
                at: installation.store.now())
            guard var user = created else { return }
            user.mustChangePassword = secret.mustChangePassword
            switch try await installation.users.add(user) {
            case .added: try report(user)
            case .usernameTaken: throw CommandFailure.refused("a user named \(username) already exists")
            case .emailTaken: throw CommandFailure.refused("another user has the email address \(email ?? "")")
            case .ownerExists: throw CommandFailure.refused("there is already an owner")
            }
        }
    }

    private func report(_ user: User) throws {
        struct Created: Encodable {
            let sub: String
            let username: String
            let email: String?
        }
        guard options.json else {
            Output.line("Created the user \(user.username).")
            return
        }
        try Output.json(
            Created(sub: user.id.rawValue, username: user.username.rawValue, email: user.email?.rawValue))
    }
}
