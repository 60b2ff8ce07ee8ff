import ArgumentParser
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct ClientList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the apps, oldest first.",
        discussion: "Example:\n  counterfoil-server app list --data-dir ./data"
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let clients = try await installation.store.clients()
            if options.json { return try Output.json(clients.map { ClientDocument($0) }) }
            if clients.isEmpty {
                return Output.line("No app is registered. See: counterfoil-server app create --help")
            }
            for client in clients {
                let pending = client.pendingMachineScope
                let status = client.statusWord.map { "  \($0)" } ?? ""
                Output.line(
                    "\(client.id)  \(client.type.rawValue)  \(client.displayName)"
                        + status + (pending.isEmpty ? "" : "  awaiting approval: \(pending)"))
            }
        }
    }
}
