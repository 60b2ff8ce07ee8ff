import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// `audit export`: writes the oldest events as JSON lines.
struct AuditExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export events as JSON lines, oldest first.",
        discussion: """
            Each line is one JSON object. The events are in the order of their times, and events with the same time \
            in the order of their numbers. Events of the last 10 minutes are not exported, because earlier ones may \
            still be recorded. Without --since, the export begins with the oldest event, and the command prints on \
            standard error how to delete the exported events with "audit delete". A time is a day, which begins at \
            00:00 UTC, or a time such as 2027-01-31T03:12, in the time zone of this machine, 2027-01-31T02:12Z or \
            2027-01-31T03:12+01:00. The command prints the period in UTC and in that time zone.

            Examples:
              counterfoil-server audit export --before 2027-01-01 --data-dir ./data
              counterfoil-server audit export --since 2027-01-31 --data-dir ./data
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Export events at this time or later. (default: all)", valueName: "time"))
    var since: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Export events before this time. (default: 10 minutes ago)", valueName: "time"))
    var before: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The new file to write; it must not exist. (default: standard output)", valueName: "file"))
    var output: String?

    @OptionGroup var location: InstallationOption

    func validate() throws {
        for (name, text) in [("--since", since), ("--before", before)] {
            guard text.map({ Moment.parse($0) != nil }) ?? true else {
                throw ValidationError("\(name) must be \(Moment.forms).")
            }
        }
        guard since != nil || before != nil else {
            throw ValidationError("Name the events with --since, --before or both.")
        }
    }

    func run() async throws {
        let start = since.flatMap { Moment.parse($0) }
        try await location.withInstallation(creating: false) { installation in
            let file = try ExportFile(at: output, onFailure: "no events were deleted")
            let settled = AuditPosition.lastSettled(at: installation.store.now())
            let limit = before.flatMap { Moment.parse($0, .last) }
            let end = limit ?? settled.time
            var (last, count) = (start.map { AuditPosition(at: $0, number: 0) }, 0)
            while true {
                let page = Array(
                    try await installation.store.auditLog(after: last, limit: 1000)
                        .prefix { $0.event.at < end && $0.position <= settled })
                guard let final = page.last else { break }
                last = final.position
                count += page.count
                let documents = try await AuditDocument.documents(of: page, in: installation.store)
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                var lines = Data()
                for document in documents {
                    lines += try encoder.encode(document)
                    lines.append(UInt8(ascii: "\n"))
                }
                try file.write(lines)
            }
            try file.finish()
            let leftOut = settled.time < end ? " Events of the last 10 minutes are left out." : ""
            guard let last, count > 0 else {
                let period = Moment.period(since: start, before: end) ?? ""
                return Output.note("There are no events \(period).\(leftOut)")
            }
            let period = Moment.period(since: start, before: limit).map { " \($0)" } ?? ""
            let exported = "Exported \(count) event\(count == 1 ? "" : "s")\(period).\(leftOut)"
            // Deletion begins with the oldest event, which this export does not have.
            guard start == nil else { return Output.note(exported) }
            Output.note(
                "\(exported) To delete them from the log:\n"
                    + "  counterfoil-server audit delete --through \(last) \(installation.options)")
        }
    }
}
