import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

struct UserDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a user, with everything that the server stores about the user.",
        discussion: """
            The deletion cannot be undone. All sessions, consents and tokens of the user end at once, and the user \
            name and the email address are free again. The audit log keeps its events, with a pseudonym in place of \
            the user. To keep a copy of the data, run "user export" first.

            At a terminal, the command asks you to type the user name. Elsewhere it needs --yes. If the user owns \
            apps, say what happens to them: --delete-apps or --transfer-apps.

            Examples:
              counterfoil-server user delete alice --data-dir ./data
              counterfoil-server user delete alice --transfer-apps bob --yes \\
                --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @Flag(name: .long, help: "Delete the apps of the user too, with all consent that users gave to them.")
    var deleteApps = false

    @Option(
        name: .long, help: ArgumentHelp("The user who gets the apps of the deleted user.", valueName: "user-name"))
    var transferApps: String?

    @Flag(name: .long, help: "Print what the deletion would delete, and delete nothing.")
    var dryRun = false

    @Flag(name: .long, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard !deleteApps || transferApps == nil else {
            throw ValidationError("--delete-apps and --transfer-apps cannot be combined.")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            guard let user = try await server.account(argument) else {
                // If the deletion of this user was interrupted, there is no such user any more, but records are left.
                try await server.finishRemovals()
                throw argument.notFound
            }
            let newOwner = try await owner(after: user, on: server)
            let preview = try await server.change(.get, user.userPath + "/deletion").record(missing: argument.notFound)
            let clients = preview.records("clients")
            if dryRun { return try show(preview, of: user) }
            guard clients.isEmpty || deleteApps || newOwner != nil else {
                throw CommandFailure.owns(clients.words, user)
            }
            if !yes { try confirm(user, clients: clients) }
            var members: [String: JSONValue] = ["username": user.members["username"] ?? .null]
            if let newOwner {
                members["new_owner"] = newOwner.members["id"]
            } else if deleteApps, !clients.isEmpty {
                members["clients"] = .array(clients.compactMap { $0.members["client_id"] })
            }
            let deleted = try await server.change(.post, user.userPath + "/deletion", members).record(
                options: ["clients": "--delete-apps"],
                missing: .refused("another command has just deleted the user \(user.username)"),
                refusals: [
                    "last-owner": .lastOwner(user.username), "owns-clients": .ownsMore(user),
                    "no-new-owner": .refused("--transfer-apps: the user was deleted at the same time"),
                ])
            try await server.finishRemovals()
            try report(deleted, user, newOwner)
        }
    }

    private func owner(
        after user: AdministrationRecord, on server: any AdministrationTransport
    ) async throws -> AdministrationRecord? {
        guard let transferApps else { return nil }
        guard let owner = try await server.user(named: transferApps) else { throw CommandFailure.noUser(transferApps) }
        guard owner.text("id") != user.text("id") else {
            throw CommandFailure.refused("--transfer-apps: name another user than the one to be deleted")
        }
        return owner
    }

    /// Asks the user at the terminal to type the user name.
    private func confirm(_ user: AdministrationRecord, clients: [AdministrationRecord]) throws {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure.refused(
                "nothing was deleted; standard input is no terminal for the confirmation, so confirm with --yes")
        }
        Output.note("This deletes the user \(UserOutput(user).line). It cannot be undone.")
        if !clients.isEmpty {
            let count = clients.count == 1 ? "1 app" : "\(clients.count) apps"
            Output.note("It also \(deleteApps ? "deletes" : "transfers") \(count) of the user: \(clients.words)")
        }
        Output.prompt("Type the user name to confirm: ")
        guard let typed = readLine(strippingNewline: true) else {
            // The terminal shows nothing for Control-D, so the cursor is still behind the question.
            Output.note("")
            throw CommandFailure.refused("nothing was deleted; the input ended before the user name")
        }
        guard Username(typed)?.rawValue == user.text("username") else {
            throw CommandFailure.refused("nothing was deleted; the typed name is not \(user.username)")
        }
    }

    /// Prints what the deletion would delete.
    private func show(_ preview: AdministrationRecord, of user: AdministrationRecord) throws {
        if options.json { return try Output.json(preview) }
        Output.line("This would delete the user \(UserOutput(user).line), with:")
        let limit = preview.integer("counted_up_to") ?? .max
        let clients = preview.records("clients")
        func line(_ words: String, _ number: Int?) {
            let number = number ?? 0
            Output.line("  \(words): \(number)\(number >= limit ? " or more" : "")")
        }
        line("sessions", preview.integer("sessions"))
        line("passkeys", preview.integer("passkeys"))
        line("consents", preview.integer("consents"))
        line("grants", preview.integer("grants"))
        Output.line("  apps: \(clients.count)")
        line("audit events that get a pseudonym", preview.integer("audit_events"))
        if !clients.isEmpty { Output.line("The user owns the apps: \(clients.words)") }
        Output.line("Nothing was deleted.")
    }

    private func report(
        _ deleted: AdministrationRecord, _ user: AdministrationRecord, _ newOwner: AdministrationRecord?
    ) throws {
        if options.json { return try Output.json(deleted) }
        Output.line("Deleted the user \(user.username).")
        func line(_ words: String, _ clients: [String]) {
            let names = clients.map { "\(EscapedText($0))" }.joined(separator: ", ")
            if !clients.isEmpty { Output.line("\(words): \(names)") }
        }
        line("Transferred to \(newOwner?.username ?? "")", deleted.texts("transferred_clients"))
        line("Deleted the apps", deleted.texts("deleted_clients"))
        Output.line("The audit log names the user as \(EscapedText(deleted.text("pseudonym") ?? "")).")
    }
}

extension [AdministrationRecord] {
    /// The identifiers of apps, with their names if the server can read them.
    fileprivate var words: String {
        map { client in
            let id = "\(EscapedText(client.text("client_id") ?? ""))"
            return client.text("client_name").map { "\(id) (\(DisplayName($0)))" } ?? id
        }
        .joined(separator: ", ")
    }
}

extension CommandFailure {
    /// The failure if apps were registered after the command has listed those of the user.
    fileprivate static func ownsMore(_ user: AdministrationRecord) -> CommandFailure {
        .temporary(
            "nothing was deleted; \(user.username) owns an app that was registered since the command listed the apps. "
                + "Repeat the command")
    }

    fileprivate static func owns(_ clients: String, _ user: AdministrationRecord) -> CommandFailure {
        .refused(
            "nothing was deleted; \(user.username) owns \(clients). Delete them with "
                + "--delete-apps, or give them to another user with --transfer-apps NAME")
    }
}
