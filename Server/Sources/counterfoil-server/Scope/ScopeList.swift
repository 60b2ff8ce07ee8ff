import ArgumentParser

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

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let scopes = try await server.items(of: "/scopes")
            if options.json { return try Output.json(scopes) }
            for scope in scopes { Output.line(ScopeOutput(scope).line) }
        }
    }
}
