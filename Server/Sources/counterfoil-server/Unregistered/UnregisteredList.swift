import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct UnregisteredList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List unregistered apps, or their hosts.",
        discussion: """
            Without --host and --registrations, the command lists the hosts and the number of their apps. Apps are \
            listed newest first. An app with a document is stored when a user first allows it something.

            Examples:
              counterfoil-server unregistered list --data-dir ./data
              counterfoil-server unregistered list --host app.example.com --data-dir ./data
            """
    )

    @Option(name: .long, help: "List the apps whose documents are at this host.")
    var host: String?

    @Flag(name: .long, help: "List the apps that registered themselves.")
    var registrations = false

    @Option(name: .long, help: ArgumentHelp("Only apps older than this one.", valueName: "client_id"))
    var after: String?

    @Option(name: .long, help: ArgumentHelp("The number of apps to list, 1 to 1000.", valueName: "n"))
    var limit = 100

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be a number from 1 to 1000.") }
        guard host == nil || !registrations else {
            throw ValidationError("--host and --registrations cannot be combined.")
        }
        guard after == nil || host != nil || registrations else {
            throw ValidationError("--after needs --host or --registrations.")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            guard let host else {
                return registrations
                    ? try await list(.registrations, in: installation) : try await listHosts(in: installation)
            }
            try await list(.host(host.lowercased()), in: installation)
        }
    }

    private func list(_ family: UnregisteredClientFamily, in installation: Installation) async throws {
        var cursor: UnregisteredClientCursor?
        if let after {
            cursor = UnregisteredClientCursor(of: try await installation.unregisteredClient(after).client)
        }
        let uses = try await installation.store.unregisteredClients(of: family, after: cursor, limit: limit)
        let documents = uses.map { UnregisteredClientDocument($0) }
        if options.json { return try Output.json(documents) }
        if documents.isEmpty { return Output.line("There are no such apps.") }
        for document in documents { Output.line(document.line) }
    }

    private static let page = 500

    private func listHosts(in installation: Installation) async throws {
        var rows: [UnregisteredHostDocument] = []
        var last: String?
        while true {
            let hosts = try await installation.store.unregisteredClientHosts(after: last, limit: Self.page)
            rows += hosts.map { UnregisteredHostDocument($0.name, $0.count) }
            last = hosts.last?.name
            guard hosts.count == Self.page else { break }
        }
        let registered = try await installation.store.unregisteredClientCount(of: .registrations)
        if registered.clients > 0 { rows.append(UnregisteredHostDocument(nil, registered)) }
        if options.json { return try Output.json(rows) }
        if rows.isEmpty { return Output.line("There are no unregistered apps.") }
        for row in rows {
            Output.line("\(row.host ?? "registered themselves")  \(row.unused) of \(row.apps) unused")
        }
    }
}
