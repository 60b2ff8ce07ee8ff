import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation

/// `audit export`: writes events, oldest first, as JSON lines or CSV.
struct AuditExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export events as JSON lines or CSV, oldest first.",
        discussion: """
            Each line is one event, as a JSON object or as the cells of a table. The events are in the order of their \
            times, and events with the same time in the order of their numbers. Events of the last 10 minutes are not \
            exported, because earlier ones may still be recorded. An event must satisfy every given condition. Without \
            a condition other than --until, the export begins with the oldest event, and the command prints on \
            standard error how to delete the exported events with "audit delete". \(AuditFilterOptions.times)

            In CSV, a text that a spreadsheet would read as a formula begins with an apostrophe.

            Examples:
              counterfoil-server audit export --until 2027-01-01 --data-dir ./data
              counterfoil-server audit export --since yesterday --format csv \\
                --data-dir ./data
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case ndjson
        case csv
    }

    @OptionGroup var filter: AuditFilterOptions

    @Option(name: .long, help: ArgumentHelp("The format of the lines.", valueName: "format"))
    var format = Format.ndjson

    @Option(
        name: .long,
        help: ArgumentHelp("The new file to write; it must not exist. (default: standard output)", valueName: "file"))
    var output: String?

    @OptionGroup var location: InstallationOption

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    func validate() throws {
        guard filter.since != nil || filter.until != nil || filter.hasConditions else {
            throw ValidationError("Name the events with --since, --until or another condition.")
        }
    }

    func run() async throws {
        guard !remote.isGiven else {
            return try await remote.withTransport(on: location, creating: false) { server in
                try note(try await export(from: server), deletion: ", on the machine of the server:", options: "")
            }
        }
        try await location.withInstallation(creating: false) { installation in
            try note(
                try await export(from: try await LocalTransport(installation)), deletion: ":",
                options: " \(installation.options)")
        }
    }

    /// The events that were written.
    private struct Exported {
        let query: AuditQuery
        /// The position before which events are exported.
        let settled: AuditPosition
        var count = 0
        /// The position of the last event.
        var last: AuditPosition?
    }

    private func export(from server: any AdministrationTransport) async throws -> Exported {
        let now = Date()
        var exported = Exported(query: filter.query(at: now), settled: .lastSettled(at: now))
        var file: ExportFile?
        do {
            let order = [("sort", "oldest"), ("settled", "true")]
            try await server.auditEvents(filter.parameters(at: now) + order) { events in
                let open = try file ?? beginning()
                file = open
                try open.write(try events.reduce(into: Data()) { $0 += try line(of: $1) })
                exported.count += events.count
                exported.last = events.last?.text("position").flatMap { AuditPosition($0) } ?? exported.last
            }
            try file?.finish()
        } catch {
            file?.discard()
            throw error
        }
        return exported
    }

    /// Creates the file after the first answer, so that a refused request leaves none.
    private func beginning() throws -> ExportFile {
        let file = try ExportFile(at: output, onFailure: "no events were deleted")
        if format == .csv { try file.write(Data(AuditDocument.header.utf8)) }
        return file
    }

    private func line(of event: AdministrationRecord) throws -> Data {
        switch format {
        case .ndjson: return try Output.encoded(event) + [UInt8(ascii: "\n")]
        case .csv:
            let row = AuditDocument.row { event.text($0) ?? event.integer($0).map(String.init) ?? "" }
            return Data(row.utf8)
        }
    }

    /// Prints what was exported, and the command that deletes it.
    private func note(_ exported: Exported, deletion: String, options: String) throws {
        let (query, settled, count) = (exported.query, exported.settled, exported.count)
        let endsLater = query.until.map { $0 > settled.time } ?? false
        let leftOut = endsLater ? " Events of the last 10 minutes are left out." : ""
        let period = Moment.period(since: query.since, before: query.until ?? (count == 0 ? settled.time : nil))
        let place = (filter.conditions + [period].compactMap(\.self)).joined(separator: ", ")
        guard let last = exported.last, count > 0 else {
            return Output.note("There are no events \(place).\(leftOut)")
        }
        let text = "Exported \(count) event\(count == 1 ? "" : "s")\(place.isEmpty ? "" : " \(place)").\(leftOut)"
        // A deletion begins with the oldest event and has no conditions.
        guard query.since == nil, !filter.hasConditions else { return Output.note(text) }
        Output.note(
            "\(text) To delete them from the log\(deletion)\n"
                + "  counterfoil-server audit delete --through \(last)\(options)")
    }
}
