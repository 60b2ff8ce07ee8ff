import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        let name = existing.name
        try await options.withInstallation(creating: false) { installation in
            let scope = try await installation.scope(name)
            switch try await installation.registry.delete(scope.token, takingFromUses: removeFromAll) {
            case .removed(let uses):
                if options.json { return try Output.json(RemovedScopeDocument(scope.token, uses)) }
                Output.line(
                    uses.isEmpty ? "Deleted \(name)." : "Deleted \(name), and removed it from \(Self.names(uses)).")
            case .inUse(let uses):
                throw CommandFailure.refused(
                    "\(name) is used by \(Self.names(uses)); remove it from them, or repeat with --remove-from-all"
                )
            case .isStandard:
                throw CommandFailure.refused("\(name) is a scope of OpenID Connect, which cannot be deleted")
            case .notFound: throw CommandFailure.noScope(name)
            }
        }
    }

    private static func names(_ uses: ScopeUses) -> String {
        (uses.clients.map(\.rawValue) + uses.resources.map(\.rawValue)).joined(separator: ", ")
    }
}
