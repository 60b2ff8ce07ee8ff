import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

struct ResourceList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the APIs, sorted by URI.",
        discussion: "Example:\n  counterfoil-server resource list --data-dir ./data"
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let resources = try await installation.store.resources()
            if options.json { return try Output.json(resources.map { ResourceDocument($0) }) }
            if resources.isEmpty {
                return Output.line("No API is registered. See: counterfoil-server resource create --help")
            }
            for resource in resources {
                Output.line(
                    "\(resource.resource)  \(resource.clientID)  \(resource.tokenType.rawValue)  "
                        + "\(resource.requiresBoundTokens ? "bound-tokens-only  " : "")\(DisplayName(resource.name))")
            }
        }
    }
}
