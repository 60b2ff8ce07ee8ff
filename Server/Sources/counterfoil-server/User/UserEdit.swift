import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

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

    @OptionGroup var options: OperationOptions

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
        try await options.withServer { server in
            let path = try await server.user(argument).userPath
            let stored = try await server.change(.get, path + "/attributes").record(missing: argument.notFound)
            var user = try await server.change(.get, path).record(missing: argument.notFound)
            var shown = stored
            if let role {
                user = try await server.change(
                    .put, path + "/role", ["role": role.role.map { .string($0.rawValue) } ?? .null]
                ).record(
                    options: ["role": "--role"], missing: argument.notFound,
                    refusals: ["last-owner": .lastOwner(user.username)])
            } else if attributes.hasChanges {
                shown = try await server.change(
                    .put, path + "/attributes", ifMatch: stored.tag, try attributes.members(changing: stored)
                ).record(options: ["groups": "--group", "attributes": "--attribute"], missing: argument.notFound)
            } else {
                user = try await server.change(.patch, path, ifMatch: user.tag, claims.members).record(
                    options: ["name": "--display-name", "email": "--email", "email_verified": "--email-verified"],
                    missing: argument.notFound, refusals: ["email-taken": .emailTaken(claims.email ?? "")])
            }
            try UserOutput(user, attributes: shown).print(json: options.json)
        }
    }
}

extension CommandFailure {
    static func emailTaken(_ email: String) -> CommandFailure {
        .refused("another user has the email address \(EscapedText(email))")
    }
}
