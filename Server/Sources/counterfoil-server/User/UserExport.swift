import ArgumentParser
import CounterfoilServer
import HTTPTypes

struct UserExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export everything that the server stores about a user, as JSON.",
        discussion: """
            The export contains the account with its profile, groups and attributes, sessions, grants, consents, apps and \
            audit events. It \
            contains no password hash, no secret and no token. A record that this version cannot read is named in the \
            member "unreadable" and in a warning.

            Example:
              counterfoil-server user export alice --output alice.json --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(
        name: .long,
        help: ArgumentHelp("The new file to write; it must not exist. - is standard output.", valueName: "file"))
    var output: String

    @OptionGroup var location: InstallationOption

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    func run() async throws {
        try await remote.withTransport(on: location, creating: false) { server in
            guard let user = try await server.account(argument) else { throw argument.notFound }
            let file = try ExportFile(at: output == "-" ? nil : output, onFailure: "nothing else was changed")
            do {
                try await write(user, of: server, to: file)
                try file.finish()
            } catch {
                file.discard()
                throw error
            }
            if output != "-" { Output.note("Exported the user \(user.username) to \(output).") }
        }
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
