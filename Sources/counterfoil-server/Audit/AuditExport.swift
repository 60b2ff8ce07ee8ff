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
            The export ends before the first event at or after that time. Each line is one JSON object, and the \
            event numbers have no gaps. The command prints on standard error how to delete the exported events with \
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

    @OptionGroup var location: DataDirectoryOption

    func validate() throws {
        guard Moment.parse(before) != nil else {
            throw ValidationError(
                "--before must be a day, such as 2027-01-31, or a time, such as 2027-01-31T09:30:00Z.")
        }
    }

    func run() async throws {
        guard let end = Moment.parse(before) else { return }
        try await location.withDirectory(creating: false) { directory in
            let file = try output.map(ExportFile.init(creating:))
            var (first, last, count) = (0, 0, 0)
            while true {
                let page = Array(
                    try await directory.store.auditLog(after: last, limit: 1000).prefix { $0.event.at < end })
                guard let final = page.last else { break }
                if first == 0 { first = page[0].number }
                last = final.number
                count += page.count
                let documents = try await AuditDocument.documents(of: page, in: directory.store)
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                var lines = Data()
                for document in documents {
                    lines += try encoder.encode(document)
                    lines.append(UInt8(ascii: "\n"))
                }
                try (file?.handle ?? .standardOutput).writeExport(lines, to: output ?? "standard output")
            }
            try file?.finish()
            Output.note(
                count == 0
                    ? "There are no events before \(Moment.text(end))."
                    : "Exported \(count) event\(count == 1 ? "" : "s"), number \(first) to \(last). "
                        + "To delete them from the log:\n"
                        + "  counterfoil-server audit delete --through \(last) --data-dir \(directory.path)")
        }
    }
}

/// A new export file, accessible to its owner only.
private struct ExportFile {
    let handle: FileHandle
    private let path: String

    init(creating path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.refused(
                "--output: cannot create the file \(path): \(String(cString: strerror(errno)))")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Syncs the file to the disk.
    func finish() throws {
        do { try handle.synchronize() } catch {
            throw CommandFailure.temporary("cannot sync the file \(path) to the disk; no events were deleted")
        }
    }
}

extension FileHandle {
    fileprivate func writeExport(_ lines: Data, to name: String) throws {
        do { try write(contentsOf: lines) } catch {
            throw CommandFailure.temporary(
                "cannot write to \(name), so the export is incomplete; no events were deleted")
        }
    }
}
