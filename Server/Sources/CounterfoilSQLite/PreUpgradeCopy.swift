import Foundation
import GRDB

/// The copy of a database that is made before its upgrade, so that the former version can be used again.
struct PreUpgradeCopy {
    /// The path of the copy: that of the database with the version of its schema.
    let path: String
    private let database: String
    private let version: Int

    /// The copy of a database with a version of the schema, which need not exist yet.
    init(of database: String, version: Int) {
        self.database = database
        self.version = version
        path = "\(database).version-\(version)"
    }

    /// Copies the database, and returns when the copy is on the disk; replaces a copy of an earlier attempt.
    ///
    /// A copy that is not complete has another name, so a crash leaves no half copy under this one. The copy is
    /// accessible to the owner of the database only.
    ///
    /// - Returns: False if another process has upgraded the database first: then there is nothing to copy.
    /// - Throws: `OpeningRefusal.locked` while another process copies, or `OpeningRefusal.notCopied`. Neither the
    ///   database nor a former copy is then changed.
    func make(from pool: DatabasePool) throws(SQLiteStore.OpeningRefusal) -> Bool {
        do {
            let unfinished = try UnfinishedCopy(of: database)
            // Nothing is left to remove if the file has its final name.
            defer {
                unfinished.remove()
                unfinished.close()
            }
            let copy = try DatabaseQueue(path: unfinished.path)
            try pool.backup(to: copy)
            let copied = try copy.read { database in try Int.fetchOne(database, sql: "PRAGMA user_version") }
            try copy.close()
            guard copied == version else { return false }
            try unfinished.finish(as: path)
            return true
        } catch {
            if case UnfinishedCopy.Failure.isInUse = error { throw .locked(path: database) }
            throw .notCopied(path: database, copy: path, reason: Self.reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as DatabaseError: error.withoutValues
        case UnfinishedCopy.Failure.system(let code): String(cString: strerror(code))
        default: "unexpected failure: \(type(of: error))"
        }
    }
}

/// The file of a copy that is not complete, which one process at a time writes.
struct UnfinishedCopy {
    let path: String
    private let descriptor: CInt

    enum Failure: Error {
        /// Another process is writing it.
        case isInUse
        case system(CInt)
    }

    /// Creates an empty file beside a database, or empties the one that an interrupted copy has left.
    init(of database: String) throws {
        path = Self.path(of: database)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure.system(errno) }
        do {
            try Self.lock(descriptor)
            var (own, named, original) = (stat(), stat(), stat())
            // Another process may have finished or removed the file since it was opened.
            guard fstat(descriptor, &own) == 0, stat(path, &named) == 0, own.st_ino == named.st_ino else {
                throw Failure.isInUse
            }
            guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0, stat(database, &original) == 0 else {
                throw Failure.system(errno)
            }
            // A command of root must not leave a copy that the server cannot read.
            guard geteuid() != 0 || fchown(descriptor, original.st_uid, original.st_gid) == 0 else {
                throw Failure.system(errno)
            }
        } catch {
            _ = Foundation.close(descriptor)
            throw error
        }
    }

    /// Removes what an interrupted copy has left, unless another process is writing it.
    static func removeAbandoned(of database: String) {
        let path = path(of: database)
        guard FileManager.default.fileExists(atPath: path), let left = try? UnfinishedCopy(of: database) else { return }
        left.remove()
        left.close()
    }

    /// Gives the file another name, and returns when both are on the disk.
    func finish(as name: String) throws {
        guard fsync(descriptor) == 0, rename(path, name) == 0 else { throw Failure.system(errno) }
        let directory = open(URL(fileURLWithPath: name).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { throw Failure.system(errno) }
        defer { _ = Foundation.close(directory) }
        guard fsync(directory) == 0 else { throw Failure.system(errno) }
    }

    func remove() {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Gives up the lock.
    func close() { _ = Foundation.close(descriptor) }

    private static func path(of database: String) -> String { database + ".copying" }

    private static func lock(_ descriptor: CInt) throws {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? Failure.isInUse : Failure.system(errno)
        }
    }
}
