import CoreFoundation
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// A data directory that is restored: it has no database, or has lost it, and no server can start on it meanwhile.
///
/// The draft of the database is the mark by which a server recognizes that. It is on the disk before anything else, and
/// the database gets its name as the last step. So a machine that fails in between starts no server without its data.
final class RestoreTarget {
    /// The path of the database until it is complete.
    private let draft: String
    /// The key of the server whose copy is restored.
    let serverKey: ServerKey
    private let directory: String
    private let database: String
    private let lock: ServingLock
    /// The directories that this restore has created, the innermost first.
    private let created: [String]
    private let createsLock: Bool
    /// Whether only the mark shows that the directory is not a new one.
    private let needsMark: Bool
    /// Whether the directory has the settings of a server, which a restore that is refused keeps.
    private let hasSettings: Bool
    private var isFinished = false

    /// The names of files that a server leaves in a directory, and that a restore neither needs nor changes.
    private static let allowed: Set<String> = [
        "server.key", "server.lock", LastBackup.fileName, LastBackup.fileName + DraftFile.suffix,
        DataDirectory.recordedSettingsName, DataDirectory.recordedSettingsName + DraftFile.suffix, "lost+found",
    ]
    /// What follows the path of a database in the names of the files that belong to it.
    private static let companions = ["", "-wal", "-shm", "-journal"]
    /// The name of the database until it is complete; what an interrupted restore leaves has it, too.
    static let draftName = "counterfoil.db.restoring"

    /// Creates the directory if it is missing, and locks it.
    init(_ directory: String) throws {
        self.directory = directory
        let url = URL(fileURLWithPath: directory)
        database = url.appendingPathComponent("counterfoil.db").path
        draft = url.appendingPathComponent(Self.draftName).path
        try DataDirectory.checkUser(of: directory)
        created = Self.missingDirectories(to: directory)
        let isNew = !created.isEmpty
        let givenKey = try ServerKey.given()
        guard givenKey != nil || !isNew else { throw Self.missingKey(directory) }
        if isNew {
            do {
                try FileManager.default.createDirectory(
                    atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch { throw CommandFailure.refused("cannot create the data directory \(directory)") }
        }
        let names = try Self.names(in: directory)
        hasSettings = names.contains(DataDirectory.recordedSettingsName)
        let others = names.filter { name in
            !Self.allowed.contains(name) && !name.hasPrefix(Self.draftName) && !name.hasPrefix("server.key.")
                && !Self.isEmptyDatabase(name, in: directory)
        }
        if let other = others.min() { throw Self.notEmpty(directory, other) }
        if let givenKey {
            serverKey = givenKey
        } else {
            guard names.contains("server.key") else { throw Self.missingKey(directory) }
            serverKey = try ServerKeyFile(in: directory).read()
        }
        needsMark = !isNew && !hasSettings && !names.contains("server.key")
        createsLock = !names.contains("server.lock")
        lock = try ServingLock(
            path: url.appendingPathComponent("server.lock").path,
            orRefuse: "a server or another restore uses \(directory); stop it first")
        // A server can have begun one until it was locked.
        guard FileState(at: database)?.bytes ?? 0 == 0 else { throw Self.notEmpty(directory, "counterfoil.db") }
    }

    /// Returns true if a file is one of a database that holds nothing, as a failed start or a failure of the machine
    /// leaves it.
    private static func isEmptyDatabase(_ name: String, in directory: String) -> Bool {
        guard companions.contains(where: { name == "counterfoil.db" + $0 }) else { return false }
        var status = stat()
        // The shared memory has nothing that is not in the other files.
        return lstat(DataDirectory.file(name, in: directory), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && (status.st_size == 0 || name.hasSuffix("-shm"))
    }

    /// Removes the files of a database that holds nothing: SQLite would apply a log beside the restored database to it.
    private func removeEmptyDatabase() throws(CommandFailure) {
        for name in Self.companions.map({ "counterfoil.db" + $0 }) {
            guard Self.isEmptyDatabase(name, in: directory) else {
                guard !FileManager.default.fileExists(atPath: DataDirectory.file(name, in: directory)) else {
                    throw Self.notEmpty(directory, name)
                }
                continue
            }
            unlink(DataDirectory.file(name, in: directory))
        }
    }

    private static func notEmpty(_ directory: String, _ name: String) -> CommandFailure {
        .refused(
            "the data directory \(directory) is not empty (\(name)); move its content away, except for server.key; nothing "
                + "was changed")
    }

    private static func names(in directory: String) throws(CommandFailure) -> [String] {
        guard let stream = opendir(directory) else {
            let reason = errno
            let advice =
                reason == EACCES || reason == EPERM
                ? "run the command as the user of the server" : "name a directory with --data-dir"
            throw .refused(
                "cannot read the data directory \(directory) (\(String(cString: strerror(reason)))); \(advice); nothing "
                    + "was changed")
        }
        closedir(stream)
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            throw .temporary("cannot read the data directory \(directory); try again; nothing was changed")
        }
        return names
    }

    /// Returns the directories that a path lacks, the innermost first.
    private static func missingDirectories(to directory: String) -> [String] {
        var (missing, place) = ([String](), URL(fileURLWithPath: directory).standardizedFileURL)
        while place.path != "/", !FileManager.default.fileExists(atPath: place.path) {
            missing.append(place.path)
            place.deleteLastPathComponent()
        }
        return missing
    }

    private static func missingKey(_ directory: String) -> CommandFailure {
        .refused(
            "the server key is missing; put the server.key of the server into \(directory) with mode 0600, or set "
                + "\(ServerKey.variable); nothing was changed")
    }

    /// Marks the directory as one that is restored, with an empty draft of its database.
    func begin() throws(CommandFailure) -> DraftFile {
        do throws(DraftFile.Failure) {
            let draft = try DraftFile(at: draft)
            try draft.keep()
            return draft
        } catch { throw CommandFailure(error) }
    }

    /// Makes the restored database the one of the directory.
    ///
    /// - Parameter issuer: The issuer of the server in the copy, which the next server compares with its own.
    func finish(_ draft: DraftFile, issuer: String?) throws {
        let wal =
            (try? FileManager.default.attributesOfItem(atPath: draft.path + "-wal")[.size] as? NSNumber)?.intValue ?? 0
        guard wal == 0 else {
            throw CommandFailure.temporary("cannot complete the database in \(directory); check the disk")
        }
        // Those of the server whose database was lost are not those of the copy.
        let recorded = RecordedSettings { $0 == "issuer" ? issuer : nil }
        do { try DataDirectory.note(recorded, in: directory) } catch {
            throw CommandFailure.temporary("cannot write to \(directory); check that the disk is not full")
        }
        try removeEmptyDatabase()
        do { try draft.finish(as: database, replacing: false) } catch {
            throw CommandFailure(error, "cannot complete the restore: ")
        }
        isFinished = true
    }

    /// Removes what this restore has created, unless it is finished, and closes the draft.
    ///
    /// The mark stays in a directory that would count as a new one without it.
    func leave(_ draft: DraftFile?) {
        defer { draft?.close() }
        guard !isFinished else { return }
        if !hasSettings { unlink(DataDirectory.file(DataDirectory.recordedSettingsName, in: directory)) }
        if let draft {
            if needsMark { draft.empty() } else { draft.discard() }
            if created.isEmpty { Output.note("No server starts on \(directory) before a restore has succeeded.") }
        }
        if createsLock { lock.remove() }
        // Only empty directories can be removed.
        for directory in created { rmdir(directory) }
    }
}
