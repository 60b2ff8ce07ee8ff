import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

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

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard !deleteApps || transferApps == nil else {
            throw ValidationError("--delete-apps and --transfer-apps cannot be combined.")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            guard let user = try await installation.existingAccount(argument.name) else {
                // If the deletion of this user was interrupted, there is no such user any more, but records are left.
                try await installation.finishRemovals()
                throw CommandFailure.noUser(argument.name)
            }
            let newOwner = try await owner(after: user, in: installation)
            let owned = try await installation.store.clientIdentifiers(of: user.id)
            let names = owned.isEmpty ? [] : try await words(owned, of: user, in: installation)
            if dryRun { return try await preview(user, names, in: installation) }
            guard owned.isEmpty || deleteApps || newOwner != nil else {
                throw CommandFailure.owns(names, user)
            }
            if !yes { try confirm(user, clients: names) }
            let (outcome, pseudonym) = try await installation.users.delete(
                user.id,
                ownedClients: newOwner.map { RemovalTerms.OwnedClients.transfer(to: $0.id) }
                    ?? (deleteApps ? .delete(owned) : .refuse))
            let clients = try clients(of: outcome, user)
            try await installation.finishRemovals()
            try report(user, pseudonym, clients, newOwner)
        }
    }

    private func owner(after user: Installation.Account, in installation: Installation) async throws -> User? {
        guard let transferApps else { return nil }
        let owner = try await installation.user(transferApps)
        guard owner.id != user.id else {
            throw CommandFailure.refused("--transfer-apps: name another user than the one to be deleted")
        }
        return owner
    }

    /// Returns the identifiers of apps, with their names if this version can read them.
    private func words(
        _ owned: [ClientIdentifier], of user: Installation.Account, in installation: Installation
    ) async throws -> [String] {
        let readable = try await installation.store.clients(of: user.id)
        return owned.map { id in readable.first { $0.id == id }?.words ?? id.rawValue }
    }

    /// Asks the user at the terminal to type the user name.
    private func confirm(_ user: Installation.Account, clients: [String]) throws {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure.refused(
                "nothing was deleted; standard input is no terminal for the confirmation, so confirm with --yes")
        }
        Output.note("This deletes the user \(user.line). It cannot be undone.")
        if !clients.isEmpty {
            let count = clients.count == 1 ? "1 app" : "\(clients.count) apps"
            Output.note(
                "It also \(deleteApps ? "deletes" : "transfers") \(count) of the user: \(clients.joined(separator: ", "))"
            )
        }
        Output.prompt("Type the user name to confirm: ")
        guard let typed = readLine(strippingNewline: true) else {
            // The terminal shows nothing for Control-D, so the cursor is still behind the question.
            Output.note("")
            throw CommandFailure.refused("nothing was deleted; the input ended before the user name")
        }
        guard Username(typed) == user.username else {
            throw CommandFailure.refused("nothing was deleted; the typed name is not \(user.username)")
        }
    }

    /// Prints what the deletion would delete, and deletes nothing.
    private func preview(
        _ user: Installation.Account, _ clients: [String], in installation: Installation
    ) async throws {
        guard let counts = try await installation.store.removalCounts(of: user.id) else {
            throw CommandFailure.noUser(argument.name)
        }
        let preview = Preview(user.username, counts)
        if options.json { return try Output.json(preview) }
        Output.line("This would delete the user \(user.line), with:")
        for line in preview.lines { Output.line("  \(line)") }
        if !clients.isEmpty { Output.line("The user owns the apps: \(clients.joined(separator: ", "))") }
        Output.line("Nothing was deleted.")
    }

    /// Returns the clients that were deleted or have another owner; fails the command if the user was not deleted.
    private func clients(
        of outcome: BeginRemovalOutcome, _ user: Installation.Account
    ) throws -> [ClientIdentifier] {
        switch outcome {
        case .begun(let clients): return clients
        case .notFound:
            throw CommandFailure.refused("another command has just deleted the user \(user.username)")
        case .lastOwner: throw CommandFailure.lastOwner(user.username)
        case .ownsClients(let clients):
            let names = clients.map(\.rawValue)
            throw deleteApps ? CommandFailure.ownsMore(names, user) : CommandFailure.owns(names, user)
        case .newOwnerNotFound:
            throw CommandFailure.refused("--transfer-apps: the user was deleted at the same time")
        }
    }

    private func report(
        _ user: Installation.Account, _ pseudonym: UserIdentifier, _ clients: [ClientIdentifier], _ newOwner: User?
    ) throws {
        if options.json {
            return try Output.json(
                Deletion(
                    username: user.username.rawValue, pseudonym: pseudonym.rawValue,
                    deletedClients: newOwner == nil ? clients.map(\.rawValue) : [],
                    transferredClients: newOwner == nil ? [] : clients.map(\.rawValue)))
        }
        Output.line("Deleted the user \(user.username).")
        if !clients.isEmpty {
            let names = clients.map(\.rawValue).joined(separator: ", ")
            Output.line(newOwner.map { "Transferred to \($0.username): \(names)" } ?? "Deleted the apps: \(names)")
        }
        Output.line("The audit log names the user as \(pseudonym).")
    }

    /// The numbers of the records that a deletion would delete, each counted up to ``UserCount/limit``.
    private struct Preview: Encodable {
        let username: String
        let sessions: Int
        let passkeys: Int
        let consents: Int
        let grants: Int
        let apps: Int
        let auditEvents: Int
        let lines: [String]

        private enum CodingKeys: String, CodingKey {
            case username, sessions, passkeys, consents, grants, apps
            case auditEvents = "audit_events"
        }

        init(_ username: Username, _ counts: RemovalCounts) {
            func line(_ count: UserCount, _ words: String) -> String {
                "\(words): \(count.isExact ? "" : "more than ")\(count.number)"
            }
            self.username = username.rawValue
            sessions = counts.sessions.number
            passkeys = counts.passkeys.number
            consents = counts.consents.number
            grants = counts.grants.number
            apps = counts.clients.number
            auditEvents = counts.events.number
            lines = [
                line(counts.sessions, "sessions"), line(counts.passkeys, "passkeys"), line(counts.consents, "consents"),
                line(counts.grants, "grants"), line(counts.clients, "apps"),
                line(counts.events, "audit events that get a pseudonym"),
            ]
        }
    }

    private struct Deletion: Encodable {
        let username: String
        let pseudonym: String
        let deletedClients: [String]
        let transferredClients: [String]

        private enum CodingKeys: String, CodingKey {
            case username, pseudonym
            case deletedClients = "deleted_apps"
            case transferredClients = "transferred_apps"
        }
    }
}

extension RegisteredClient {
    /// The identifier and the name.
    fileprivate var words: String { "\(id) (\(displayName))" }
}

extension CommandFailure {
    /// The failure if apps were registered after the command has listed those of the user.
    fileprivate static func ownsMore(_ clients: [String], _ user: Installation.Account) -> CommandFailure {
        .temporary(
            "nothing was deleted; \(user.username) has also owned \(clients.joined(separator: ", ")) since the command "
                + "listed the apps. Repeat the command to delete all of them")
    }

    fileprivate static func owns(_ clients: [String], _ user: Installation.Account) -> CommandFailure {
        .refused(
            "nothing was deleted; \(user.username) owns \(clients.joined(separator: ", ")). Delete them with "
                + "--delete-apps, or give them to another user with --transfer-apps NAME")
    }
}
