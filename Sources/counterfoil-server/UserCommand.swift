import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `user`: the people who can sign in.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "The people who can sign in.",
        subcommands: [Create.self, UserEdit.self, UserList.self, UserShow.self, UserDisable.self, UserPassword.self]
    )

    /// `user create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an account.",
            discussion: """
                The password is read from standard input, one line, so that it stands neither in the arguments nor in the \
                history of the shell.

                Example:
                  counterfoil-server user create alice --email alice@example.com \\
                    --password-stdin --data-dir ./data < password.txt
                """
        )

        @Argument(help: "The user name: 1 to 64 letters, digits and . _ -")
        var name: String

        @Option(name: .long, help: "The e-mail address, which also works for signing in.")
        var email: String?

        @Option(name: .long, help: "The name that pages show. (default: the user name)")
        var displayName: String?

        @Flag(name: .long, help: "Read the password from standard input, one line. Required.")
        var passwordStdin = false

        @Flag(name: .long, help: "The person administers this server.")
        var administrator = false

        @OptionGroup var options: AdministrationOptions

        func validate() throws {
            guard passwordStdin else {
                throw ValidationError("Give --password-stdin and write the password to standard input.")
            }
            guard Username(name) != nil else {
                throw ValidationError("A user name has 1 to 64 letters, digits and . _ - without spaces.")
            }
            guard email.map({ EmailAddress($0) != nil }) ?? true else {
                throw ValidationError("\(email ?? "") cannot be an e-mail address.")
            }
        }

        func run() async throws {
            guard let username = Username(name) else { return }
            let password: Password
            do { password = try Password(choosing: try Input.passwordLine(), for: username) } catch let refusal
                as Password.Refusal
            {
                throw CommandFailure.refused("\(refusal)")
            }
            try await options.withDirectory { directory in
                let person = Person(
                    username: username,
                    email: email.flatMap(EmailAddress.init),
                    displayName: String((displayName ?? name).prefix(100)),
                    passwordHash: try await PasswordHasher().hash(password),
                    isAdministrator: administrator,
                    createdAt: Date()
                )
                switch try await directory.store.addPerson(person) {
                case .added:
                    await directory.note(
                        .account, person: person.id, detail: administrator ? "made as an administrator" : "made")
                    try report(person)
                case .usernameTaken: throw CommandFailure.refused("there is already a person named \(username)")
                case .emailTaken: throw CommandFailure.refused("somebody already has the e-mail address \(email ?? "")")
                case .administratorExists: throw CommandFailure.refused("there is already an administrator")
                }
            }
        }

        private func report(_ person: Person) throws {
            struct Created: Encodable {
                let sub: String
                let username: String
                let email: String?
            }
            guard options.json else {
                Output.line("\(person.username) can sign in now.")
                return
            }
            try Output.json(
                Created(sub: person.id.rawValue, username: person.username.rawValue, email: person.email?.rawValue))
        }
    }
}
