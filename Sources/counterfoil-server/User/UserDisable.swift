import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

struct UserDisable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disable a user.",
        discussion: """
            All sessions of the user end, and the user cannot sign in until you enable the account again with: \
            user edit NAME --enable.

            Example:
              counterfoil-server user disable alice --data-dir ./data
            """
    )

    @OptionGroup var user: UserArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            var person = try await directory.person(user.name)
            let now = directory.store.now()
            person.disabledAt = person.disabledAt ?? now
            try await directory.update(person, at: now, recording: "disabled")
            if options.json { return try Output.json(UserDocument(person)) }
            Output.line("Disabled the user \(person.username).")
        }
    }
}
