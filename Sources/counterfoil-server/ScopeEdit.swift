import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

/// `scope edit`.
struct ScopeEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the description of a permission, or how it is shown.",
        discussion: """
            Only what is given changes, and a running server shows it on its next page. What people have allowed stays \
            allowed, so give another meaning another name.

            Example:
              counterfoil-server scope edit photos.read --listed --data-dir ./data
            """
    )

    @Argument(help: "The name of the scope.")
    var name: String

    @Option(name: .long, help: "What it allows, as the consent page says it; 1 to 200 characters.")
    var description: String?

    @OptionGroup var said: ScopeOptions

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        if let description { try ScopeOptions.check(description: description) }
        guard description != nil || said.listed != nil || said.startsTicked != nil else {
            throw ValidationError("Say what to change. See: counterfoil-server scope edit --help")
        }
    }

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let former = try await directory.scope(name)
            guard !(former.token.isStandard && said.listed == false) else {
                throw CommandFailure.refused("\(name) is a scope of OpenID Connect, which the metadata always list")
            }
            var scope = former
            if let description { scope.description = description }
            said.write(into: &scope)
            switch try await directory.store.updateScope(scope, from: former) {
            case .updated:
                await directory.note(.setting, detail: "the scope \(name) was changed")
                try ScopeDocument(scope).print(json: options.json)
            case .changedMeanwhile:
                throw CommandFailure.mayPass("somebody else has changed the scope at the same time; try again")
            case .notFound: throw CommandFailure.noScope(name)
            }
        }
    }
}
