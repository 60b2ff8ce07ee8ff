import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// A data directory that is restored: it has no database yet, and no server can start on it meanwhile.
final class RestoreTarget {
    /// The path of the database until it is complete.
    let draft: String
    /// The key of the server whose copy is restored.
    let serverKey: ServerKey
    private let directory: String
    private let database: String
    private let lock: ServingLock
    /// The directories that this restore has created, the innermost first.
    private let created: [String]
    private let createsLock: Bool
    private var isFinished = false

    /// The names of files in a directory that counts as empty.
    private static let allowed: Set<String> = ["server.key", "server.lock", "lost+found"]
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
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            throw CommandFailure.refused("cannot read the data directory \(directory); check that it is a directory")
        }
        let others = names.filter { !Self.allowed.contains($0) && !$0.hasPrefix(Self.draftName) }.sorted()
        if let other = others.first {
            throw CommandFailure.refused(
                "the data directory \(directory) is not empty (\(other)); move its content away, except for server.key; "
                    + "nothing was changed")
        }
        let keyFile = url.appendingPathComponent("server.key").path
        if let givenKey {
            serverKey = givenKey
        } else {
            guard FileManager.default.fileExists(atPath: keyFile) else { throw Self.missingKey(directory) }
            serverKey = try ServerKeyFile(path: keyFile).read()
        }
        createsLock = !names.contains("server.lock")
        lock = try ServingLock(
            path: url.appendingPathComponent("server.lock").path,
            orRefuse: "a server or another restore uses \(directory); stop it first")
        guard !FileManager.default.fileExists(atPath: database) else {
            throw CommandFailure.refused("the data directory \(directory) is not empty (counterfoil.db)")
        }
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

    /// Makes the restored database the one of the directory.
    func finish(_ draft: DraftFile) throws {
        let wal =
            (try? FileManager.default.attributesOfItem(atPath: draft.path + "-wal")[.size] as? NSNumber)?.intValue ?? 0
        guard wal == 0 else {
            throw CommandFailure.temporary("cannot complete the database in \(directory); check the disk")
        }
        do { try draft.finish(as: database, replacing: false) } catch {
            throw CommandFailure.temporary("cannot complete the restore: \(error)")
        }
        isFinished = true
    }

    /// Removes what this restore has created, unless it is finished.
    func leave() {
        guard !isFinished else { return }
        if createsLock { lock.remove() }
        // Only empty directories can be removed.
        for directory in created { rmdir(directory) }
    }
}
