import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

struct UserExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export everything that the server stores about a user, or all users, as JSON.",
        discussion: """
            The export of a user contains the account with its profile, groups and attributes, sessions, grants, \
            consents, apps and audit events. It contains no password hash, no secret and no token. A record that this \
            version cannot read is named in the member "unreadable" and in a warning.

            With --all, the export has the account of every user with the groups, attributes and identities, as one \
            JSON object on each line, which user import reads. The password hashes are in it with --password-hashes, \
            on the machine of the server only.

            Examples:
              counterfoil-server user export alice --output alice.json --data-dir ./data
              counterfoil-server user export --all --password-hashes \\
                --output users.jsonl --data-dir ./data
            """
    )

    @Argument(help: "The user name.")
    var name: String?

    @Flag(name: .long, help: "Export every user in the form of user import.")
    var all = false

    @Flag(name: .long, help: "With --all, include the password hashes. Protect the file like the database.")
    var passwordHashes = false

    @Option(
        name: .long,
        help: ArgumentHelp("The new file to write; it must not exist. - is standard output.", valueName: "file"))
    var output: String

    @OptionGroup var location: InstallationOption

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    func validate() throws {
        guard (name != nil) != all else { throw ValidationError("Give the name of a user, or --all for every user.") }
        guard !passwordHashes || all else { throw ValidationError("--password-hashes needs --all.") }
        guard !passwordHashes || !remote.isGiven else {
            throw ValidationError(
                "--password-hashes cannot be combined with --remote. Run the command on the machine of the server.")
        }
    }

    func run() async throws {
        if passwordHashes {
            return try await location.withInstallation(creating: false) { installation in
                try await installation.store.appendAudit(
                    installation.event(.account, detail: "exported all password hashes"))
                try await exportAll(of: try await LocalTransport(installation), withHashesIn: installation.store)
            }
        }
        try await remote.withTransport(on: location, creating: false) { server in
            guard let name else { return try await exportAll(of: server, withHashesIn: nil) }
            var argument = UserArgument()
            argument.name = name
            guard let user = try await server.account(argument) else { throw argument.notFound }
            try await writeFile { file in try await write(user, of: server, to: file) }
            if output != "-" { Output.note("Exported the user \(user.username) to \(output).") }
        }
    }

    /// Creates the file, and deletes it if it cannot be written as a whole.
    private func writeFile(_ write: (ExportFile) async throws -> Void) async throws {
        let file = try ExportFile(at: output == "-" ? nil : output, onFailure: "nothing else was changed")
        do {
            try await write(file)
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
    }

    private func exportAll(of server: any AdministrationTransport, withHashesIn store: (any UserStore)?) async throws {
        var count = 0
        try await writeFile { file in
            var cursor: String?
            repeat {
                let position = cursor.map { "&cursor=" + AdministrationOperation.segment($0) } ?? ""
                let page = try await server.change(.get, "/user-records?limit=200" + position).record()
                for user in page.records("items") {
                    var members = user.members
                    if let id = user.text("sub").flatMap({ UserIdentifier($0) }),
                        let hash = try await store?.user(id)?.passwordHash
                    {
                        members["password_hash"] = .string(hash.exposed)
                    }
                    try file.write(try Output.encoded(JSONValue.object(members)) + Data("\n".utf8))
                    count += 1
                }
                cursor = page.text("next")
            } while cursor != nil
        }
        if output != "-" { Output.note("Exported \(count) \(count == 1 ? "user" : "users") to \(output).") }
    }

    private func write(
        _ user: AdministrationRecord, of server: any AdministrationTransport, to file: ExportFile
    ) async throws {
        var writer = UserExportWriter(file.write)
        var cursor: String?
        var hasEvents = false
        repeat {
            let query = cursor.map { "?cursor=" + AdministrationOperation.segment($0) } ?? ""
            let page = try await server.change(.get, user.userPath + "/export" + query).record(
                missing: .refused(
                    "the user \(user.username) was deleted during the export, which is incomplete"))
            for record in page.records("unreadable") { Output.note("warning: not exported: \(Self.words(record))") }
            try writer.append(page)
            hasEvents = hasEvents || page.members["audit_events"] != nil
            cursor = page.text("next")
        } while cursor != nil
        try writer.finish()
        if !hasEvents {
            Output.note(
                "warning: the export has no audit events, because the token lacks the scope "
                    + "counterfoil.admin.audit:read, or its user the right")
        }
    }

    /// Returns a record that the server cannot read as words.
    private static func words(_ record: AdministrationRecord) -> String {
        let id = record.text("id").map { " \(DisplayName($0))" } ?? ""
        return "\(DisplayName(record.text("record") ?? ""))\(id), whose \(DisplayName(record.text("column") ?? "")) "
            + "this version cannot read"
    }
}
