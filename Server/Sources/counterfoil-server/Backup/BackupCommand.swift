import ArgumentParser
import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The command `backup`, which copies the database of a data directory while a server runs on it.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database while the server runs.",
        discussion: """
            The copy is one file with the state at one point in time, and a digest by which restore recognizes a \
            damaged one. It contains password hashes and personal data, but not the server key: copy server.key \
            once, and keep it elsewhere. The output - is for programs that encrypt or store the copy.

            For a PostgreSQL database, use its own tools and after-restore.

            Examples:
              counterfoil-server backup --output /backup/counterfoil.copy --data-dir ./data
              counterfoil-server backup --output - --data-dir ./data | \\
                age --recipients-file operators.txt >counterfoil.copy.age
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp("The new file to write, or - for standard output.", valueName: "file"))
    var output: String

    @Flag(name: .long, help: "Replace the file, if it is another copy, when the new one is complete.")
    var replace = false

    @OptionGroup var location: InstallationOption

    func validate() throws {
        guard !output.isEmpty else { throw ValidationError("--output cannot be empty.") }
        guard output != "-" || !replace else { throw ValidationError("--replace requires a file.") }
    }

    func run() async throws {
        guard case .directory(let path) = try location.storeLocation else {
            throw CommandFailure.refused(
                "backup copies a data directory; for a PostgreSQL database, use pg_basebackup or pg_dump")
        }
        try DataDirectory.checkUser(of: path)
        let recorded = DataDirectory.recordedSettings(in: path)
        let file = BackupOutput(path: output, replaces: replace, directory: path, recorded: recorded)
        if output == "-" { try Self.refuseTerminal() } else { try file.check() }
        // Within one session or service, the server goes first. Between two of them, only the pauses of the copy count.
        _ = nice(10)
        let store = try DataDirectory.openForCopy(path)
        do {
            try await copy(store, in: path, to: file)
            await store.close()
        } catch {
            await store.close()
            throw error
        }
    }

    private static func refuseTerminal() throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw CommandFailure.refused("a copy is not written to a terminal; use a pipe, or --output FILE")
        }
    }

    private func copy(_ store: SQLiteStore, in directory: String, to file: BackupOutput) async throws {
        let recorded = file.recorded
        let takenAt = Int64(Date().timeIntervalSince1970 * 1_000_000)
        var isInJournal = false
        if let journal = DataDirectory.journal(recordedIn: recorded, in: directory) {
            do {
                _ = try await EndingsJournal.open(of: store, at: journal, marking: true) { _ in }
                isInJournal = true
            } catch { Output.note("warning: \(error); the copy can be restored with it nevertheless") }
        }
        let draft: DraftFile
        do {
            draft = try DraftFile(at: output == "-" ? store.path + ".backup" : file.draft)
        } catch { throw CommandFailure(error) }
        defer {
            draft.discard()
            draft.close()
        }
        let record: CopyRecord
        do {
            record = try store.copy(
                toFileAt: draft.path, draft.descriptor,
                SQLiteStore.CopyTerms(
                    issuer: recorded.issuer, program: Build.version, isInJournal: isInJournal, takenAt: takenAt))
            if output == "-" {
                // Whatever happens from here on, no copy is left in the data directory.
                draft.discard()
                try Self.send(draft.descriptor)
            } else {
                // Another program can have created the file since the first check.
                try file.check()
                try draft.finish(as: output, replacing: replace)
            }
        } catch { throw failure(error) }
        LastBackup.note(in: directory, at: Date(timeIntervalSince1970: Double(takenAt) / 1_000_000))
        let users = record.rows["people"] ?? 0
        Output.note(
            "Copied the database as of \(Moment.text(Date(timeIntervalSince1970: Double(takenAt) / 1_000_000))): "
                + "\(users) user\(users == 1 ? "" : "s"), \(record.length) bytes. The server key is not in the copy.")
    }

    private static func send(_ descriptor: CInt) throws {
        let input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        try input.seek(toOffset: 0)
        while let bytes = try input.read(upToCount: 1 << 20), !bytes.isEmpty {
            try FileHandle.standardOutput.write(contentsOf: bytes)
        }
    }

    private func failure(_ error: any Error) -> CommandFailure {
        switch error {
        case let failure as CommandFailure: failure
        case let failure as DraftFile.Failure: CommandFailure(failure)
        case let failure as CopyFailure: .temporary("cannot write the copy: \(failure)")
        case CopyRefusal.otherSchema(let names):
            .refused(
                "cannot copy the database: \(CopyRefusal.otherSchema(names)). A restore would refuse the copy; delete "
                    + "what another program has added, such as the tables of Litestream")
        case let refusal as CopyRefusal: .refused("cannot copy the database: \(refusal)")
        case let fault as StoreFault: .temporary("cannot write the copy; check that the disk is not full: \(fault)")
        default: .temporary("cannot write the copy to \(output == "-" ? "standard output" : output)")
        }
    }
}
