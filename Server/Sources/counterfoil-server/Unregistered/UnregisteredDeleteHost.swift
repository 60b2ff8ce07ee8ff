import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct UnregisteredDeleteHost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-host",
        abstract: "Delete every unregistered app whose document is at a host.",
        discussion: """
            There is no confirmation, and the deletion cannot be undone. With --refuse, the policy also refuses the \
            host from now on. Suspended apps are kept, so that they stay suspended.

            Example:
              counterfoil-server unregistered delete-host app.example.com --refuse \\
                --data-dir ./data
            """
    )

    @Argument(help: "The name of the host.")
    var host: String

    @Flag(name: .long, help: "Also refuse the host from now on.")
    var refuse = false

    @OptionGroup var options: AdministrationOptions

    private static let batch = 50

    func validate() throws { _ = try name() }

    private func name() throws -> HostPattern {
        guard let name = HostPattern(host), !name.rawValue.hasPrefix("*") else {
            throw ValidationError("\(host) is not a host name, such as app.example.com.")
        }
        return name
    }

    func run() async throws {
        let name = try name()
        try await options.withInstallation(creating: false) { installation in
            // The host is refused first, so that none of its apps is allowed again while they are deleted.
            if refuse {
                let (outcome, _) = try await installation.store.refuseClients(of: name) {
                    installation.event(.setting, detail: $0)
                }
                guard outcome != .tooMany else {
                    throw CommandFailure.refused(
                        """
                        the policy already refuses \(UnregisteredClientPolicy.hostLimit) hosts, the maximum; nothing was \
                        changed. List the hosts that it should refuse with unregistered edit --refused-host, or delete \
                        the apps without --refuse
                        """)
                }
            }
            let (deleted, _) = try await installation.store.removeAllUnregisteredClients(
                of: .host(name.rawValue), batch: Self.batch
            ) { count in
                installation.event(.client, detail: "deleted \(count) unregistered apps of \(name)").named(
                    .clientDeleted)
            }
            try await installation.finishRemovals()
            if options.json {
                return try Output.json(RemovedHostDocument(host: name.rawValue, deleted: deleted, refused: refuse))
            }
            Output.line("Deleted \(deleted) apps of \(name)." + (refuse ? " The host is refused from now on." : ""))
        }
    }
}
