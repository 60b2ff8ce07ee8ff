import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer

/// `scope`: the permissions that applications can ask for.
struct ScopeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scope",
        abstract: "The permissions that applications can ask for.",
        subcommands: [Create.self]
    )

    /// `scope create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a permission, in words that people read before they allow it.",
            discussion: """
                Example:
                  counterfoil-server scope create photos.read \\
                    --description "See your photos and albums" --data-dir ./data
                """
        )

        @Argument(help: "The name on the wire, without spaces, such as photos.read.")
        var name: String

        @Option(name: .long, help: "What it allows, as the consent page says it; 1 to 200 characters.")
        var description: String

        @OptionGroup var options: AdministrationOptions

        func validate() throws {
            guard Scope.Token(name) != nil else {
                throw ValidationError(
                    "The name of a scope is 1 to 255 visible ASCII characters without spaces, \" and \\.")
            }
            guard (1...200).contains(description.count) else {
                throw ValidationError("The description of a scope is 1 to 200 characters.")
            }
        }

        func run() async throws {
            guard let token = Scope.Token(name) else { return }
            try await options.withDirectory { directory in
                switch try await directory.store.addScope(ScopeDefinition(token: token, description: description)) {
                case .added:
                    await directory.note(.setting, detail: "the scope \(name) was made")
                    guard options.json else { return Output.line("Applications can be assigned \(name) now.") }
                    try Output.json(["scope": name, "description": description])
                case .exists:
                    throw CommandFailure.refused("there is already a scope named \(name)")
                }
            }
        }
    }
}
