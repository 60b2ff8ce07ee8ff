import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct UserEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the claims, the groups and attributes, or the role of a user.",
        discussion: """
            Only the given options change, and an empty value clears: --nickname "". Clients get the new values with \
            their next request. Groups and attributes reach an app by the scopes that release them (scope edit \
            --claims). The role is changed by a command of its own. It gives the user rights at the pages for \
            administrators, and one owner who can sign in is always left.

            Examples:
              counterfoil-server user edit alice --given-name Alice \\
                --zoneinfo Europe/Oslo --email-verified true --data-dir ./data
              counterfoil-server user edit alice --group staff --group editors \\
                --attribute 'department="Sales"' --data-dir ./data
              counterfoil-server user edit alice --role support --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(name: .long, help: "The role of the user in the administration of this server.")
    var role: UserQuery.Role?

    @OptionGroup(title: "Claims") var claims: UserOptions

    @OptionGroup(title: "Groups and attributes") var attributes: UserAttributeOptions

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        let kinds = [claims.hasChanges, attributes.hasChanges, role != nil].count { $0 }
        guard kinds > 0 else {
            throw ValidationError("Give at least one change. See: counterfoil-server user edit --help")
        }
        guard kinds == 1 else {
            throw ValidationError(
                "Claims, groups with attributes, and --role cannot be combined. Run the command once for each.")
        }
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.user(argument.name)
            var user = former
            if let role {
                try installation.require(
                    try await installation.users.setRole(role.role, of: user.id), of: user.username)
            } else if attributes.hasChanges {
                let stored = try await installation.store.attributes(of: user.id)
                let changed = try attributes.changed(stored)
                if changed != stored {
                    try Self.require(
                        try await installation.users.changeAttributes(of: user.id, from: stored, to: changed), of: user)
                }
            } else {
                claims.write(into: &user)
                try Self.require(try await installation.users.update(user, from: former), of: user)
            }
            let document = UserDocument(
                try await installation.user(argument.name), try await installation.store.attributes(of: user.id))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }

    private static func require(_ outcome: UpdateUserOutcome, of user: User) throws {
        switch outcome {
        case .updated: return
        case .notFound:
            throw CommandFailure.temporary("another command has just deleted the user \(user.username)")
        case .changedMeanwhile:
            throw CommandFailure.temporary("the user \(user.username) was changed at the same time")
        case .emailTaken:
            throw CommandFailure.refused("another user has the email address \(user.email?.rawValue ?? "")")
        }
    }
}
