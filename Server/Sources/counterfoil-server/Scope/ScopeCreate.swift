import ArgumentParser
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
                --description "See your photos and albums" \\
                --text "de=Ihre Fotos und Alben sehen" --data-dir ./data
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
        try ScopeOptions.check(description)
    }

    func run() async throws {
        var draft = ScopeDraft()
        draft.name = name
        draft.texts[.standard] = description
        properties.write(into: &draft)
        try await options.withInstallation { installation in
            let scope: ScopeDefinition
            do { scope = try await installation.registry.add(draft) } catch let refusal as ScopeRefusal {
                throw refusal.problems.contains { $0.text.key == ScopeDraft.FieldProblem.Reason.nameTaken.rawValue }
                    ? CommandFailure.refused("a scope named \(name) already exists") : CommandFailure.refused(refusal)
            }
            guard options.json else {
                return Output.line("Created the scope \(name). Assign it to apps with: counterfoil-server app edit")
            }
            try Output.json(ScopeDocument(scope))
        }
    }
}
