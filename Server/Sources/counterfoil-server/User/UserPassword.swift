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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        let line = try secret.readLine()
        try await options.withInstallation(creating: false) { installation in
            let user = try await installation.user(argument.name)
            let password = try PasswordOption.password(
                line, for: user.username, email: user.email, displayName: user.displayName, at: installation.issuer)
            let hash = try await PasswordHasher().hash(password)
            guard user.disabledAt == nil else { throw CommandFailure.disabled(user) }
            // First, so that no passkey begins a session after the sessions have ended.
            let passkeys = try await removingPasskeys(of: user, in: installation)
            let deleted = removePasskeys ? ", and the passkeys are deleted" : ""
            let isTemporary = secret.mustChangePassword
            switch try await installation.users.setPassword(hash, isTemporary: isTemporary, of: user) {
            case .reset:
                if options.json { return try Output.json(UserDocument(user)) }
                Output.line("Changed the password of \(user.username), and ended all sessions.\(passkeys)")
            case .permissionOutdated:
                throw CommandFailure.temporary("the password was changed at the same time\(deleted); try again")
            case .userNotActive: throw CommandFailure.disabled(user, deleted)
            }
        }
    }

    /// Deletes the passkeys of the user if the operator asks for it, and returns a sentence about them.
    private func removingPasskeys(of user: User, in installation: Installation) async throws -> String {
        let store = installation.store
        guard removePasskeys else {
            let count = try await store.passkeys(of: user.id).count
            guard count > 0 else { return "" }
            return " \(Self.words(count)) still \(count == 1 ? "signs" : "sign") the user in; "
                + "to delete \(count == 1 ? "it" : "them"), run the command with --remove-passkeys."
        }
        let event = try await installation.event(of: .passkeysRemoved, to: user)
        let removed = try await store.removePasskeys(of: user.id, recording: [event])
        return " Deleted \(Self.words(removed))."
    }

    private static func words(_ count: Int) -> String { count == 1 ? "1 passkey" : "\(count) passkeys" }
}
