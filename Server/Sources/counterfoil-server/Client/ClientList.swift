public import ArgumentParser
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
public import CounterfoilStore
import Foundation

struct ClientList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the apps, sorted by name.",
        discussion: """
            --search finds the apps whose name begins with a text, the app with a client_id, and the apps of the user \
            with a user name. --developer lists the apps that a user owns or manages with their owner.

            Examples:
              counterfoil-server app list --search photo --data-dir ./data
              counterfoil-server app list --state pending --sort newest --limit 20 --json \\
                --data-dir ./data
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The beginning of a name, a whole client_id, or the user name of an owner.", valueName: "text"))
    var search: String?

    @Option(name: .long, help: "Only apps in this state: pending, development, machine-access or suspended.")
    var state: ClientQuery.State?

    @Option(name: .long, help: ArgumentHelp("Only apps that this user owns or manages.", valueName: "user"))
    var developer: String?

    @Option(name: .long, help: "The order: name or newest.")
    var sort: ClientQuery.Order = .name

    @Option(name: .long, help: ArgumentHelp("The maximum number of apps. (default: all)", valueName: "number"))
    var limit: Int?

    @OptionGroup var options: AdministrationOptions

    private static let page = 500

    func validate() throws {
        guard search.map({ ClientSearch($0) != nil }) ?? true else {
            throw ValidationError("--search: must be 1 to \(UserSearch.limit) bytes without control characters.")
        }
        guard limit ?? 1 > 0 else { throw ValidationError("--limit: must be at least 1.") }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            var query = ClientQuery(search: search.flatMap { ClientSearch($0) }, state: state, order: sort)
            if let developer { query.developer = try await installation.user(developer).id }
            let isWhole = query == ClientQuery(order: sort)
            var clients: [ListedClient] = []
            repeat {
                query.limit = min(Self.page, limit.map { $0 - clients.count } ?? Self.page)
                let found = try await installation.store.clients(matching: query)
                clients += found.clients
                query.after = found.next
            } while query.after != nil && clients.count < limit ?? .max
            if options.json { return try Output.json(clients.map { ClientRecord($0.client, use: $0.use) }) }
            if clients.isEmpty {
                return isWhole
                    ? Output.line("No app is registered. See: counterfoil-server app create --help")
                    : Output.note("No app matches.")
            }
            for listed in clients { Output.line(Self.line(listed)) }
        }
    }

    private static func line(_ listed: ListedClient) -> String {
        let client = listed.client
        var line = "\(client.id)  \(client.type.rawValue)  \(client.displayName)"
        if let status = client.statusWord { line += "  \(status)" }
        if !client.pendingMachineScope.isEmpty { line += "  awaiting approval: \(client.pendingMachineScope)" }
        if listed.use.lastUsedAt != nil { line += "  \(listed.use.words)" }
        return line
    }
}

extension ClientQuery.State: ExpressibleByArgument {}
extension ClientQuery.Order: ExpressibleByArgument {}

extension ClientUse {
    /// The use as text.
    var words: String {
        let number = "\(users.isExact ? "" : "more than ")\(users.number) user\(users.number == 1 ? "" : "s")"
        return number + (lastUsedAt.map { ", last use on \(CalendarDay(of: $0))" } ?? ", never used")
    }
}
