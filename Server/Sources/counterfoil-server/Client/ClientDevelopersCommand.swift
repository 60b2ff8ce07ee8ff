import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

struct ClientDevelopersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "developers",
        abstract: "List the users who manage an app with its owner, or change them.",
        discussion: """
            They can do everything at /apps that the owner can, except delete the app and hand it over. A user who is \
            added manages the app at once. To give the app another owner, run: app edit CLIENT_ID --developer NAME

            Examples:
              counterfoil-server app developers CLIENT_ID --data-dir ./data
              counterfoil-server app developers CLIENT_ID --add bob --remove eve --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(name: .long, help: ArgumentHelp("A user who manages the app from now on; repeatable.", valueName: "user"))
    var add: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A user who no longer manages the app, or is no longer asked to; repeatable.", valueName: "user"))
    var remove: [String] = []

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let client = try await server.client(argument)
            // Every name is known before the first change.
            let added = try await users(named: add, by: server)
            let removed = try await users(named: remove, by: server)
            let former = try await server.items(of: argument.path + "/developers").compactMap { $0.text("username") }
            let asked = try await server.items(of: argument.path + "/invitations").compactMap { $0.text("username") }
            for user in removed {
                let path =
                    former.contains(user.name)
                    ? developer(user) : argument.path + "/invitations/" + AdministrationOperation.segment(user.name)
                guard former.contains(user.name) || asked.contains(user.name) else {
                    Output.note("Nothing to change for \(user.name).")
                    continue
                }
                try await server.change(.delete, path).accepted(missing: .noClient(argument.clientID))
            }
            for user in added {
                guard !user.isDisabled else {
                    Output.note(
                        "warning: \(user.name) is disabled and was not added; enable the user first with: "
                            + "counterfoil-server user enable \(user.name)")
                    continue
                }
                let isThere = former.contains(user.name) && !removed.contains { $0.name == user.name }
                if isThere || client.text("developer") == user.name {
                    Output.note("Nothing to change for \(user.name).")
                }
                try await server.change(.put, developer(user)).accepted(missing: .noClient(argument.clientID))
            }
            try await report(on: ClientOutput(client), by: server)
        }
    }

    private func report(on client: ClientOutput, by server: any AdministrationTransport) async throws {
        let developers = try await server.items(of: argument.path + "/developers")
        if options.json { return try Output.json(developers) }
        if developers.isEmpty { Output.line("No one but its owner manages \(client.name).") }
        for developer in developers {
            let since = Date(timeIntervalSince1970: TimeInterval(developer.integer("since") ?? 0))
            Output.line("\(developer.text("username")?.visible ?? "")  since \(CalendarDay(of: since))")
        }
        for question in try await server.items(of: argument.path + "/invitations") {
            let (name, end) = (question.text("username") ?? "", question.text("expires_at") ?? "")
            Output.line("\(name)  asked, can accept until \(end.prefix(10))".visible)
        }
    }

    /// A user whom an option names.
    private struct Named {
        let id: String
        let name: String
        let isDisabled: Bool
    }

    private func developer(_ user: Named) -> String {
        argument.path + "/developers/" + AdministrationOperation.segment(user.id)
    }

    /// Returns the users with some names; fails the command if one does not exist.
    private func users(named names: [String], by server: any AdministrationTransport) async throws -> [Named] {
        var users: [Named] = []
        for text in names {
            guard let name = Username(text)?.rawValue else { throw CommandFailure.noUser(text) }
            let filter = "&search=" + AdministrationOperation.segment(name)
            let found = try await server.items(of: "/users", filter: filter).first { $0.text("username") == name }
            guard let user = found, let id = user.text("id") else { throw CommandFailure.noUser(text) }
            users.append(Named(id: id, name: name, isDisabled: user.flag("disabled")))
        }
        return users
    }
}
