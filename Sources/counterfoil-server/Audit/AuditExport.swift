import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `audit export`: writes the oldest events as JSON lines.
struct AuditExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the events before a time as JSON lines, oldest first.",
        discussion: """
            Each line is one JSON object. The events are in the order of their times, and events with the same time \
            in the order of their numbers. Events of the last 10 minutes are not exported, because earlier ones may \
            still be recorded. The command prints on standard error how to delete the exported events with \
            "audit delete".

            Example:
              counterfoil-server audit export --before 2027-01-01 --data-dir ./data
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Export events before this time: 2027-01-31 or 2027-01-31T09:30:00Z.", valueName: "time"))
    var before: String

    @Option(
        name: .long,
        help: ArgumentHelp("The new file to write; it must not exist. (default: standard output)", valueName: "file"))
    var output: String?

    @OptionGroup var location: InstallationOption

    func validate() throws {
        guard Moment.parse(before) != nil else {
            throw ValidationError(
                "--before must be a day, such as 2027-01-31, or a time, such as 2027-01-31T09:30:00Z.")
        }
    }

    func run() async throws {
        guard let end = Moment.parse(before) else { return }
        try await location.withInstallation(creating: false) { installation in
            let file = try ExportFile(at: output, onFailure: "no events were deleted")
            let settled = AuditPosition.lastSettled(at: installation.store.now())
            var (last, count) = (AuditPosition?.none, 0)
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
            guard let last else { return Output.note("There are no events before \(Moment.text(end)).\(leftOut)") }
            Output.note(
                "Exported \(count) event\(count == 1 ? "" : "s").\(leftOut) To delete them from the log:\n"
                    + "  counterfoil-server audit delete --through \(last) \(installation.options)")
        }
    }
}
