import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct UserEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the claims or the role of a user.",
        discussion: """
            Only the given options change, and an empty value clears: --nickname "". Clients get the new values with \
            their next request. The role is changed by a command of its own. It gives the user rights at the pages for \
            administrators, and one owner who can sign in is always left.

            Examples:
              counterfoil-server user edit alice --given-name Alice \\
                --zoneinfo Europe/Oslo --email-verified true --data-dir ./data
              counterfoil-server user edit alice --role support --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(name: .long, help: "The role of the user in the administration of this server.")
    var role: UserQuery.Role?

    @OptionGroup(title: "Claims") var claims: UserOptions

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard claims.hasChanges || role != nil else {
            throw ValidationError("Give at least one change. See: counterfoil-server user edit --help")
        }
        guard !claims.hasChanges || role == nil else {
            throw ValidationError(
                "--role cannot be combined with claims. Run the command twice.")
        }
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.user(argument.name)
            var user = former
            if let role {
                try installation.require(
                    try await installation.users.setRole(role.role, of: user.id), of: user.username)
            } else {
                claims.write(into: &user)
                switch try await installation.users.update(user, from: former) {
                case .updated: break
                case .notFound:
                    throw CommandFailure.temporary("another command has just deleted the user \(user.username)")
                case .changedMeanwhile:
                    throw CommandFailure.temporary("the user \(user.username) was changed at the same time")
                case .emailTaken:
                    throw CommandFailure.refused("another user has the email address \(user.email?.rawValue ?? "")")
                }
            }
            let document = UserDocument(try await installation.user(argument.name))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
