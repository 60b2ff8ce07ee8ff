import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer

/// `scope create`.
struct ScopeCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
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

    @OptionGroup var said: ScopeOptions

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        try ScopeOptions.check(name: name)
        try ScopeOptions.check(description: description)
    }

    func run() async throws {
        guard let token = Scope.Token(name) else { return }
        var scope = ScopeDefinition(token: token, description: description)
        said.write(into: &scope)
        try await options.withDirectory { directory in
            switch try await directory.store.addScope(scope) {
            case .added:
                await directory.note(.setting, detail: "the scope \(name) was made")
                guard options.json else { return Output.line("Applications can be assigned \(name) now.") }
                try Output.json(ScopeDocument(scope))
            case .exists:
                throw CommandFailure.refused("there is already a scope named \(name)")
            }
        }
    }
}
