public import ArgumentParser
import CounterfoilServer
public import CounterfoilStore

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

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard search.map({ ClientSearch($0) != nil }) ?? true else {
            throw ValidationError("--search: must be 1 to \(UserSearch.limit) bytes without control characters.")
        }
        guard limit ?? 1 > 0 else { throw ValidationError("--limit: must be at least 1.") }
    }

    func run() async throws {
        let given = [("search", search), ("state", state?.rawValue), ("developer", developer)]
        let filters = given.compactMap { name, value in
            value.map { "&\(name)=\(AdministrationOperation.segment($0))" }
        }
        try await options.withServer { server in
            let clients = try await server.items(
                of: "/clients", filter: "&sort=\(sort.rawValue)" + filters.joined(), atMost: limit,
                options: ["developer": "--developer"])
            if options.json { return try Output.json(clients) }
            if clients.isEmpty {
                return filters.isEmpty
                    ? Output.line("No app is registered. See: counterfoil-server app create --help")
                    : Output.note("No app matches.")
            }
            for client in clients { Output.line(ClientOutput(client).line) }
        }
    }
}

extension ClientQuery.State: ExpressibleByArgument {}
extension ClientQuery.Order: ExpressibleByArgument {}
