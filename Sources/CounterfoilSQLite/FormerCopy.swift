import Foundation
import GRDB

/// The copy of a database that is made before its upgrade, so that the former version can be used again.
struct FormerCopy {
    /// The path of the copy: that of the database with the version of its schema.
    let path: String
    private let database: String

    /// The copy of a database with a version of the schema, which need not exist yet.
    init(of database: String, version: Int) {
        self.database = database
        path = "\(database).version-\(version)"
    }

    /// Copies the database, and returns when the copy is on the disk; replaces a copy of an earlier attempt.
    ///
    /// A copy that is not complete has another name, so a crash leaves no half copy under this one. Like the database,
    /// the copy is accessible to its owner only.
    ///
    /// - Throws: `OpeningRefusal.notCopied`, after which neither the database nor a former copy is changed.
    func make(from pool: DatabasePool) throws(SQLiteStore.OpeningRefusal) {
        let unfinished = database + ".copying"
        do {
            try remove(unfinished)
            let descriptor = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw SystemError(code: errno) }
            defer { _ = Foundation.close(descriptor) }
            let copy = try DatabaseQueue(path: unfinished)
            try pool.backup(to: copy)
            try copy.close()
            guard fsync(descriptor) == 0, rename(unfinished, path) == 0 else { throw SystemError(code: errno) }
            try syncDirectory()
        } catch {
            try? remove(unfinished)
            throw .notCopied(path: database, copy: path, reason: Self.reason(error))
        }
    }

    private func remove(_ file: String) throws {
        for suffix in ["", "-journal", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file + suffix) {
            try FileManager.default.removeItem(atPath: file + suffix)
        }
    }

    private func syncDirectory() throws {
        let directory = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { throw SystemError(code: errno) }
        defer { _ = Foundation.close(directory) }
        guard fsync(directory) == 0 else { throw SystemError(code: errno) }
    }

    private struct SystemError: Error {
        let code: CInt
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as DatabaseError: error.withoutValues
        case let error as SystemError: String(cString: strerror(error.code))
        default: "unexpected failure: \(type(of: error))"
        }
    }
}
