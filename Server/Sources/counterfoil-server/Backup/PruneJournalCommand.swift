import ArgumentParser
import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The command `prune-journal`, which deletes the former files of an endings journal that no kept backup needs.
struct PruneJournalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune-journal",
        abstract: "Delete the former files of an endings journal that no backup needs.",
        discussion: """
            The server renames a full journal to FILE.NUMBER, and deletes none. A restore needs what ended after its \
            backup. So a file can go when each backup that is kept, here or elsewhere, was made after its last line.

            --keep names each kept copy of a data directory, and compares the numbers of the endings. A file from \
            before a restore goes if the copies are of the server that was restored with it. --before is for backups \
            of a PostgreSQL database: the time at which the oldest kept one began. A file stays if it ends less than \
            an hour before. The current file always stays.

            Examples:
              counterfoil-server prune-journal /var/lib/counterfoil-journal/endings \\
                --keep /var/backups/counterfoil/*.backup
              counterfoil-server prune-journal /srv/journal/endings --before 2026-11-30

            The exit code is 3 if something named cannot be read. No file is then deleted.
            """
    )

    @Argument(help: ArgumentHelp("The path of the journal, as in endings-journal.", valueName: "file"))
    var journal: String

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp("The kept copies of the data directory.", valueName: "copy"))
    var keep: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("The time at which the oldest kept backup began, or a day.", valueName: "time"))
    var before: String?

    // Accepted as by every command, and not read.
    @Option(SettingsFileOption.hidden) var settingsFile: String?

    /// The time in seconds for which a transaction that has recorded an ending can be open.
    private static let margin: TimeInterval = 3600

    func validate() throws {
        guard !journal.isEmpty else { throw ValidationError("The path of the journal cannot be empty.") }
        guard !keep.isEmpty || before != nil else { throw ValidationError("--keep or --before is required.") }
        guard before.map({ Moment.parse($0) != nil }) ?? true else {
            throw ValidationError("--before must be a time such as 2026-11-30T09:30:00Z, or a day.")
        }
        guard before.flatMap({ Moment.parse($0) }).map({ $0 <= Date() }) ?? true else {
            throw ValidationError("--before is in the future; name the time at which the oldest kept backup began.")
        }
    }

    func run() throws {
        let copies = try keep.map(record)
        let end = before.flatMap { Moment.parse($0) }?.addingTimeInterval(-Self.margin)
        // Each file is read before the first one is deleted.
        let former = try formerFiles()
        guard !former.isEmpty || FileManager.default.fileExists(atPath: journal) else {
            throw CommandFailure.refused("there is no endings journal at \(journal); check the path")
        }
        let origins = try origins(of: former)
        let ends = try former.map { path in (path: path, last: try lastLine(of: path)) }
        let unneeded = ends.filter { _, last in
            copies.allSatisfy { $0.has(last, by: origins) } && (end.map { Date(microseconds: last.at) < $0 } ?? true)
        }.map(\.path)
        for path in unneeded {
            guard unlink(path) == 0 else {
                throw CommandFailure.temporary("cannot delete \(path): \(String(cString: strerror(errno)))")
            }
            Output.line("deleted \(path)")
        }
        if unneeded.isEmpty { Output.note("No file of the journal can be deleted.") }
        let sequences = Set(copies.map(\.endings))
        for (path, last) in ends where !unneeded.contains(path) && !copies.isEmpty && !sequences.contains(last.identity)
        {
            Output.note(
                "kept \(path): it is of the server before a restore, or of another one, and no copy shows that it is not "
                    + "needed; use --before")
        }
    }

    /// Returns where each sequence of the journal that continues another one after a restore began.
    private func origins(of former: [String]) throws -> [String: JournalLine.Mark] {
        var origins: [String: JournalLine.Mark] = [:]
        for path in former + [journal] where FileManager.default.fileExists(atPath: path) {
            do {
                for mark in try EndingsJournal.origins(inFileAt: path) { origins[mark.identity] = mark }
            } catch { throw CommandFailure.refused("\(error); no file was deleted") }
        }
        return origins
    }

    private func formerFiles() throws -> [String] {
        do { return try JournalFiles.former(of: journal) } catch {
            throw CommandFailure.refused(
                "cannot read the directory of the endings journal \(journal): \(error.localizedDescription)")
        }
    }

    private func record(ofCopyAt path: String) throws -> CopyRecord {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure.refused("cannot read \(path); no file was deleted")
        }
        defer { try? file.close() }
        do { return try CopyRecord(unverifiedOn: file.fileDescriptor) } catch {
            throw CommandFailure.refused("cannot read the copy \(path): \(error); no file was deleted")
        }
    }

    private func lastLine(of path: String) throws -> JournalLine {
        do {
            if let line = try EndingsJournal.lastLine(ofFileAt: path) { return line }
            throw CommandFailure.refused("\(path) is empty; no file was deleted")
        } catch let failure as JournalFailure {
            throw CommandFailure.refused("\(failure); no file was deleted")
        }
    }
}

extension CopyRecord {
    /// Returns true if the copy has the last ending of a file.
    ///
    /// - Parameters:
    ///   - last: The last line of the file.
    ///   - origins: Where each sequence began that continues another one.
    fileprivate func has(_ last: JournalLine, by origins: [String: JournalLine.Mark]) -> Bool {
        var (identity, number) = (endings, ending)
        // A journal that was changed could lead back to a sequence.
        for _ in 0...origins.count {
            if identity == last.identity { return last.number <= number }
            guard let origin = origins[identity], let former = origin.former else { return false }
            (identity, number) = (former, origin.number)
        }
        return false
    }
}
