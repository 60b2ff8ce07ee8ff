import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The command `restore`, which makes a data directory from a copy of a database.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a copy into a data directory.",
        discussion: """
            The directory must be empty, except for files of a server whose database is lost. Put the server.key of \
            the server there first, with mode 0600, or set COUNTERFOIL_SERVER_KEY. The copy is checked before anything \
            else, and the database appears in the directory when everything is done. Until then, no server starts on \
            it. The command can be repeated if it is interrupted.

            A copy knows nothing of what was revoked later. Choose what happens with it:
              --endings-journal ends again what the journal of the server names (serve --endings-journal). Name \
            each file that was written since the copy.
              --end-sign-ins ends every session and revokes every token, so users sign in again.

            Codes and requests that wait for an answer are never restored.

            Examples:
              counterfoil-server restore counterfoil.copy --data-dir ./data \\
                --endings-journal /journal/endings*
              age --decrypt --identity key.txt counterfoil.copy.age | \\
                counterfoil-server restore - --data-dir ./data --end-sign-ins
            """
    )

    @Argument(help: ArgumentHelp("The copy, or - for standard input.", valueName: "file"))
    var file: String

    @Option(
        name: .customLong("data-dir"),
        help: ArgumentHelp("The data directory to make. It is created if it is missing.", valueName: "directory"))
    var dataDir: String?

    @OptionGroup var answer: RestoreAnswer

    @Option(SettingsFileOption.shown) var settingsFile: String?

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("The name of the copy cannot be empty.") }
    }

    func run() async throws {
        let input = try openInput()
        let directory = try directory()
        let target = try RestoreTarget(directory)
        var begun: DraftFile?
        defer { target.leave(begun) }
        let draft = try target.begin()
        begun = draft
        let record = try read(input, into: draft, in: directory)
        let store = try open(draft)
        defer { if let copy = store.copyOfEarlierVersion { unlink(copy) } }
        do {
            try await restore(record, into: store, target)
            await store.close()
        } catch let fault as StoreFault {
            await store.close()
            throw CommandFailure(fault)
        } catch {
            await store.close()
            throw error
        }
        try target.finish(draft, issuer: record.issuer)
        Output.note(
            "Restored \(record.rows["people"] ?? 0) users into \(directory), as of \(Self.time(of: record))"
                + (record.issuer.map { ", of the server \($0)" } ?? "") + ".\n" + answer.remaining)
    }

    private func directory() throws(CommandFailure) -> String {
        let values = try SettingValues(
            [Settings.dataDir, Settings.database], options: dataDir.map { [Settings.dataDir.name: [$0]] } ?? [:],
            SettingSources(naming: settingsFile))
        guard let directory = values[Settings.dataDir] else {
            guard values[Settings.database] == nil else {
                throw .refused(
                    "restore makes a data directory; for a PostgreSQL database, use its own tools, such as pg_restore, "
                        + "and then after-restore")
            }
            throw .usage("Name the data directory with --data-dir or \(Settings.dataDir.variable).")
        }
        return directory
    }

    private static func time(of record: CopyRecord) -> String {
        Moment.text(Date(timeIntervalSince1970: Double(record.takenAt) / 1_000_000))
    }

    private func openInput() throws -> FileHandle {
        guard file != "-" else {
            guard isatty(STDIN_FILENO) == 0 else {
                throw CommandFailure.refused("a copy is not read from a terminal; use a pipe, or name a file")
            }
            return .standardInput
        }
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory), isDirectory.boolValue {
            throw refused(.directory)
        }
        guard let handle = FileHandle(forReadingAtPath: file) else {
            throw CommandFailure.refused("cannot read the copy \(file); check its name and permissions")
        }
        return handle
    }

    private func refused(_ refusal: CopyRefusal) -> CommandFailure {
        .refused("cannot restore \(file == "-" ? "standard input" : file): \(refusal); nothing was changed")
    }

    /// Copies the input into the draft, checks it, and leaves the database in the draft.
    private func read(_ input: FileHandle, into draft: DraftFile, in directory: String) throws -> CopyRecord {
        let output = FileHandle(fileDescriptor: draft.descriptor, closeOnDealloc: false)
        while true {
            let bytes: Data?
            do { bytes = try input.read(upToCount: 1 << 20) } catch {
                throw refused(.unreadable("the system reports an error"))
            }
            guard let bytes, !bytes.isEmpty else { break }
            do { try output.write(contentsOf: bytes) } catch {
                throw CommandFailure.temporary("cannot write to \(directory); check that the disk is not full")
            }
        }
        do throws(CopyRefusal) {
            let record = try CopyRecord(ofCopyOn: draft.descriptor)
            guard ftruncate(draft.descriptor, off_t(record.length)) == 0 else {
                throw .unreadable(String(cString: strerror(errno)))
            }
            try SQLiteStore.check(databaseAt: draft.path, against: record)
            return record
        } catch { throw refused(error) }
    }

    private func open(_ draft: DraftFile) throws -> SQLiteStore {
        do { return try SQLiteStore(at: draft.path, createIfMissing: false, clockStart: Date()) } catch {
            throw CommandFailure(error)
        }
    }

    private func restore(_ record: CopyRecord, into store: SQLiteStore, _ target: RestoreTarget) async throws {
        let installation = Installation(
            store: store, serverKey: target.serverKey, recorded: RecordedSettings { _ in nil }, options: "",
            note: { _ in })
        do { try await KeyRing.check(store, serverKey: target.serverKey) } catch {
            throw CommandFailure.refused("\(error)")
        }
        try await answer.apply(
            to: installation, copiedAt: record.isInJournal ? record.takenAt : nil,
            origin: "from a copy of \(Self.time(of: record))")
    }
}
