import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `scope delete`.
struct ScopeDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Remove a permission, and take it from everything that people have allowed.",
        discussion: """
            While applications or APIs are registered for it, nothing happens but that they are named. With \
            --remove-from-all it is taken from them as well. Access tokens that are out keep it until they expire, where \
            an API does not ask the server.

            Example:
              counterfoil-server scope delete photos.read --remove-from-all \\
                --data-dir ./data
            """
    )

    @Argument(help: "The name of the scope.")
    var name: String

    @Flag(name: .long, help: "Take it from the applications and APIs that are registered for it.")
    var removeFromAll = false

    @OptionGroup var options: AdministrationOptions

    /// A scope that was removed, and from where.
    private struct Removal: Encodable {
        let scope: String
        let clients: [String]
        let resources: [String]
    }

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let scope = try await directory.scope(name)
            switch try await directory.store.removeScope(scope.token, takingFromUses: removeFromAll, at: Date()) {
            case .removed(let uses):
                await directory.note(.setting, detail: "the scope \(name) was removed")
                for client in uses.clients {
                    await directory.note(.application, client: client, detail: "lost the scope \(name)")
                }
                if options.json {
                    return try Output.json(
                        Removal(
                            scope: name, clients: uses.clients.map(\.rawValue),
                            resources: uses.resources.map(\.rawValue)))
                }
                Output.line(uses.isEmpty ? "Removed \(name)." : "Removed \(name), also from \(Self.names(uses)).")
            case .inUse(let uses):
                throw CommandFailure.refused(
                    "\(name) is used by \(Self.names(uses)); take it from them, or run the command with --remove-from-all"
                )
            case .isStandard:
                throw CommandFailure.refused("\(name) is a scope of OpenID Connect, which cannot be removed")
            case .notFound: throw CommandFailure.noScope(name)
            }
        }
    }

    private static func names(_ uses: ScopeUses) -> String {
        (uses.clients.map(\.rawValue) + uses.resources.map(\.rawValue)).joined(separator: ", ")
    }
}
