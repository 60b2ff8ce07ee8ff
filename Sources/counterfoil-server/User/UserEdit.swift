import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

struct UserEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the claims of a user, or disable or enable the account.",
        discussion: """
            Only the given options change, and an empty value clears: --nickname "". Clients get the new values with \
            their next request. Disabling an account ends its sessions, and introspection reports its tokens \
            as inactive.

            Example:
              counterfoil-server user edit alice --given-name Alice \\
                --zoneinfo Europe/Oslo --email-verified true --data-dir ./data
            """
    )

    @OptionGroup var user: UserArgument

    @OptionGroup(title: "Claims") var claims: UserOptions

    @Flag(name: .long, help: "Disable the account.")
    var disable = false

    @Flag(name: .long, help: "Enable the account again.")
    var enable = false

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard !(disable && enable) else { throw ValidationError("--disable and --enable cannot be combined.") }
    }

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard claims.hasChanges || disable || enable else {
            throw ValidationError("Give at least one change. See: counterfoil-server user edit --help")
        }
        try await options.withInstallation(creating: false) { installation in
            var person = try await installation.person(user.name)
            let now = installation.store.now()
            claims.write(into: &person)
            if disable { person.disabledAt = person.disabledAt ?? now }
            if enable { person.disabledAt = nil }
            let what = disable ? "disabled" : enable ? "enabled" : "changed"
            try await installation.update(person, at: now, recording: what)
            let document = UserDocument(try await installation.person(user.name))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
