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

    func validate() throws {
        guard filter.since != nil || filter.until != nil || filter.hasConditions else {
            throw ValidationError("Name the events with --since, --until or another condition.")
        }
    }

    func run() async throws {
        try await location.withInstallation(creating: false) { installation in
            var query = try await filter.query(in: installation)
            let file = try ExportFile(at: output, onFailure: "no events were deleted")
            let settled = AuditPosition.lastSettled(at: installation.store.now())
            query.order = .oldestFirst
            query.before = settled
            query.limit = 1000
            var (last, count) = (AuditPosition?.none, 0)
            var names: [UserIdentifier: String?] = [:]
            if format == .csv { try file.write(Data(AuditDocument.header.utf8)) }
            while true {
                let search = try await installation.store.searchAudit(query)
                let documents = try await AuditDocument.documents(
                    of: search.entries, in: installation.store, names: &names)
                var lines = Data()
                for document in documents {
                    lines += try format == .csv ? Data(document.row.utf8) : document.line()
                }
                try file.write(lines)
                count += search.entries.count
                last = search.entries.last?.position ?? last
                // More names than these are read again.
                if names.count > 10_000 { names = [:] }
                guard let rest = search.rest else { break }
                query.proceed(from: rest)
            }
            try file.finish()
            let endsLater = query.until.map { $0 > settled.time } ?? false
            let leftOut = endsLater ? " Events of the last 10 minutes are left out." : ""
            let period = Moment.period(since: query.since, before: query.until ?? (count == 0 ? settled.time : nil))
            let place = (filter.conditions(of: query) + [period].compactMap(\.self)).joined(separator: ", ")
            guard let last, count > 0 else { return Output.note("There are no events \(place).\(leftOut)") }
            let exported =
                "Exported \(count) event\(count == 1 ? "" : "s")\(place.isEmpty ? "" : " \(place)").\(leftOut)"
            // A deletion begins with the oldest event and has no conditions.
            guard query.since == nil, !filter.hasConditions else { return Output.note(exported) }
            Output.note(
                "\(exported) To delete them from the log:\n"
                    + "  counterfoil-server audit delete --through \(last) \(installation.options)")
        }
    }
}
