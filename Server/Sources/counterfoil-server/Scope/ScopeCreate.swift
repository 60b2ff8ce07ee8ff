import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct ScopeCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a scope.",
        discussion: """
            Example:
              counterfoil-server scope create photos.read \\
                --description "See your photos and albums" --data-dir ./data
            """
    )

    @Argument(help: "The name, without spaces, such as photos.read.")
    var name: String

    @Option(name: .long, help: ScopeOptions.descriptionHelp)
    var description: String

    @OptionGroup var properties: ScopeOptions

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        try ScopeOptions.check(name: name)
        try ScopeOptions.check(description: description)
    }

    func run() async throws {
        guard let token = Scope.Token(name) else { return }
        var scope = ScopeDefinition(token: token, description: description)
        properties.write(into: &scope)
        try await options.withInstallation { installation in
            let event = installation.event(.setting, detail: "created the scope \(name)")
            switch try await installation.store.addScope(scope, recording: [event]) {
            case .added:
                guard options.json else {
                    return Output.line("Created the scope \(name). Assign it to apps with: counterfoil-server app edit")
                }
                try Output.json(ScopeDocument(scope))
            case .exists:
                throw CommandFailure.refused("a scope named \(name) already exists")
            }
        }
    }
}
