import ArgumentParser
import HTTPTypes

struct ScopeDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a scope, and remove it from all consent.",
        discussion: """
            If apps or APIs are registered for the scope, the command lists them and deletes nothing. With \
            --remove-from-all it also removes the scope from them. Issued access tokens keep the scope until they \
            expire, for APIs that do not introspect them.

            Example:
              counterfoil-server scope delete photos.read --remove-from-all \\
                --data-dir ./data
            """
    )

    @OptionGroup var existing: ScopeArgument

    @Flag(name: .long, help: "Also remove it from the apps and APIs that are registered for it.")
    var removeFromAll = false

    @OptionGroup var options: OperationOptions

    func run() async throws {
        let path = existing.path + (removeFromAll ? "?remove_from_all=true" : "")
        try await options.withServer { server in
            let deleted = try await server.change(.delete, path)
                .record(options: ["remove_from_all": "--remove-from-all"], missing: existing.notFound)
            if options.json { return try Output.json(deleted) }
            let uses = (deleted.texts("clients") + deleted.texts("resources")).joined(separator: ", ").visible
            Output.line(
                "Deleted \(existing.name)" + (uses.isEmpty ? "." : ", and removed it from \(uses)."))
        }
    }
}
