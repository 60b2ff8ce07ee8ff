import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct ScopeEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the texts or options of a scope.",
        discussion: """
            Only the given options change. A running server shows the change on its next page. Existing consent stays \
            valid, so create a new scope for a different permission. The same is true of the claims that a scope \
            releases: describe them in its text.

            Examples:
              counterfoil-server scope edit photos.read --listed --data-dir ./data
              counterfoil-server scope edit directory --claims groups,department \
                --claims-in id_token,access_token,userinfo --data-dir ./data
            """
    )

    @OptionGroup var existing: ScopeArgument

    @Option(name: .long, help: ScopeOptions.descriptionHelp)
    var description: String?

    @OptionGroup var properties: ScopeOptions

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        if let description { try ScopeOptions.check(description) }
    }

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard description != nil || properties.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server scope edit --help")
        }
        let name = existing.name
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.scope(name)
            guard !(former.token.isStandard && properties.listed == false) else {
                throw CommandFailure.refused(
                    "\(name) is a scope of OpenID Connect, which the server metadata always lists")
            }
            var draft = ScopeDraft(former)
            if let description { draft.texts[.standard] = description }
            properties.write(into: &draft)
            do {
                guard let scope = try await installation.registry.change(former, to: draft) else {
                    throw CommandFailure.noScope(name)
                }
                try ScopeDocument(scope).print(json: options.json)
            } catch let refusal as ScopeRefusal { throw CommandFailure.refused(refusal) }
        }
    }
}
