import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

struct ScopeList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the scopes, sorted by name.",
        discussion: """
            Each line has the name, whether the server metadata lists the scope, the initial state of its checkbox \
            where it is optional, "reserved" if only approved apps get it, the claims that it releases, and the \
            description.

            Example:
              counterfoil-server scope list --data-dir ./data
            """
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let scopes = try await installation.store.scopes().map { ScopeDocument($0) }
            if options.json { return try Output.json(scopes) }
            for scope in scopes { Output.line(scope.line) }
        }
    }
}
