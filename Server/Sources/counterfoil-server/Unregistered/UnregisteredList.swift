import ArgumentParser
import CounterfoilServer

struct UnregisteredList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List unregistered apps, or their hosts.",
        discussion: """
            Without --host and --registrations, the command lists the hosts and the number of their apps. Apps are \
            listed newest first. An app with a document is stored when a user first allows it something.

            Examples:
              counterfoil-server unregistered list --data-dir ./data
              counterfoil-server unregistered list --search app. --data-dir ./data
              counterfoil-server unregistered list --host app.example.com --data-dir ./data
            """
    )

    @Option(name: .long, help: "List the apps whose documents are at this host.")
    var host: String?

    @Option(
        name: .long,
        help: ArgumentHelp("List the hosts whose names start with this, or the host of this URL.", valueName: "text"))
    var search: String?

    @Flag(name: .long, help: "List the apps that registered themselves.")
    var registrations = false

    @Option(name: .long, help: ArgumentHelp("Only apps older than this one.", valueName: "client_id"))
    var after: String?

    @Option(name: .long, help: ArgumentHelp("The number of apps to list, 1 to 1000.", valueName: "n"))
    var limit = 100

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be a number from 1 to 1000.") }
        guard host == nil || !registrations else {
            throw ValidationError("--host and --registrations cannot be combined.")
        }
        if let host { try HostArgument.check(host) }
        guard search == nil || host == nil && !registrations else {
            throw ValidationError("--search lists hosts, so it cannot be combined with --host or --registrations.")
        }
        guard after == nil || host != nil || registrations else {
            throw ValidationError("--after needs --host or --registrations.")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            if host == nil, !registrations { return try await listHosts(of: server) }
            let filter = [("host", host), ("after", after)].compactMap { name, value in
                value.map { "&\(name)=" + AdministrationOperation.segment($0) }
            }
            let apps = try await server.items(
                of: "/unregistered/clients", filter: filter.joined(), atMost: limit, options: ["after": "--after"])
            if options.json { return try Output.json(apps) }
            if apps.isEmpty { return Output.line("There are no such apps.") }
            for app in apps { Output.line(Self.line(of: app)) }
        }
    }

    /// An app as one line of text.
    private static func line(of app: AdministrationRecord) -> String {
        let id = app.shown("client_id")
        let users = app.integer("users") ?? 0
        let used = app.text("last_used").map { "last used \($0.visible)" } ?? "never used"
        let scope = app.shown("scope")
        return "\(id)  \(DisplayName(app.text("client_name") ?? "", orElse: id))  "
            + "\(users == 1 ? "1 user" : "\(users) users"), \(used)\(scope.isEmpty ? "" : ", scope \(scope)")"
    }

    private func listHosts(of server: any AdministrationTransport) async throws {
        let filter = search.map { "&search=" + AdministrationOperation.segment($0) } ?? ""
        let hosts = try await server.items(
            of: "/unregistered/hosts", filter: filter, options: ["search": "--search"])
        if options.json { return try Output.json(hosts) }
        if hosts.isEmpty {
            return Output.line(search == nil ? "There are no unregistered apps." : "There is no such host.")
        }
        for host in hosts {
            let name = host.text("host")?.visible ?? "registered themselves"
            Output.line("\(name)  \(host.integer("unused") ?? 0) of \(host.integer("apps") ?? 0) unused")
        }
    }
}
