import GRDB

extension SQLiteStore {
    /// The error that opening a store throws; its description is written for the operator.
    public enum OpeningRefusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The directory cannot be created, entered or written.
        case directoryNotUsable(path: String, reason: String)
        /// The file cannot be read or written.
        case fileNotUsable(path: String, reason: String)
        /// The file does not exist or has no content, and `createIfMissing` is false.
        case missing(path: String)
        /// The file is not an SQLite database.
        case notADatabase(path: String)
        /// The file is a database of another program.
        case otherApplication(path: String)
        /// A version from before version 1 of the schema has written the file.
        case unreleasedVersion(path: String)
        /// A newer version of this product has written the file; the numbers are schema versions.
        case newerVersion(path: String, found: Int, supported: Int)
        /// An earlier version of this product has written the file, and `upgrading` is false; the numbers are
        /// schema versions.
        case earlierVersion(path: String, found: Int, supported: Int)
        /// The file needs a migration, and could not be copied before it.
        case notCopied(path: String, copy: String, reason: String)
        /// The content of the file has moved to another database; nil if its name is unknown.
        case moved(path: String, target: String?)
        /// Another process holds a lock on the file.
        case locked(path: String)
        /// The file system does not support a write-ahead log, or cannot sync it.
        case notDurable(path: String)
        /// The file is a damaged database, which must be restored from a backup.
        case damaged(path: String, reason: String)

        /// The cause and the action to take.
        public var description: String {
            switch self {
            case .directoryNotUsable(let path, let reason):
                "the directory \(path) cannot be used (\(reason)); choose another one, or give this user write permission"
            case .fileNotUsable(let path, let reason):
                "the database \(path) cannot be used (\(reason)); it must be a file that this user can read and write, on a disk with free space"
            case .missing(let path):
                "there is no database at \(path); check the path, or start the server once to create it"
            case .notADatabase(let path):
                "\(path) is not a database; check the path, or restore the file from a backup"
            case .otherApplication(let path):
                "\(path) is a database of another program; choose another path"
            case .unreleasedVersion(let path):
                """
                the database \(path) was written by a version of Counterfoil from before the first release, which no \
                version can upgrade; nothing was changed; begin again with an empty data directory
                """
            case .newerVersion(let path, let found, let supported):
                """
                the database \(path) was written by a newer version (schema version \(found); this version supports \(supported)); \
                nothing was changed; use that version, or restore a backup of this one
                """
            case .earlierVersion(let path, let found, let supported):
                """
                the database \(path) was written by an earlier version (schema version \(found); this version needs \(supported)); \
                nothing was changed; stop the server of that version, then start this one
                """
            case .notCopied(let path, let copy, let reason):
                """
                the database \(path) must be upgraded, and it could not be copied to \(copy) before (\(reason)); \
                nothing was changed; free as much space as the database has, and try again
                """
            case .moved(let path, let target):
                """
                the content of the database \(path) has moved to \(target ?? "another database"); \
                nothing was changed; use that database, with --database
                """
            case .locked(let path):
                "the database \(path) is locked by another process; wait for that process to end, or stop it, and try again"
            case .notDurable(let path):
                """
                the file system of \(path) does not support a durable write-ahead log; use a local disk, not a network share
                """
            case .damaged(let path, let reason):
                "the database \(path) is damaged (\(reason)); restore it from a backup"
            }
        }
    }

    /// An error for a file system that cannot make commits durable.
    struct NotDurable: Error {}

    /// An error for a database that another program or a newer version has written since the store checked the file.
    struct Foreign: Error {
        let version: Int
        /// The newest version that this version of the program can use.
        let supported: Int
    }
}

extension SQLiteStore.OpeningRefusal {
    init(_ error: any Error, path: String) {
        switch error {
        case let refusal as Self:
            self = refusal
        case is SQLiteStore.NotDurable:
            self = .notDurable(path: path)
        case let foreign as SQLiteStore.Foreign where foreign.version == SQLiteStore.movedVersion:
            self = .moved(path: path, target: SQLiteStore.target(ofFileAt: path))
        case let foreign as SQLiteStore.Foreign where foreign.version > foreign.supported:
            self = .newerVersion(path: path, found: foreign.version, supported: foreign.supported)
        case is SQLiteStore.Foreign:
            self = .otherApplication(path: path)
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked(path: path)
            case .SQLITE_NOTADB: self = .notADatabase(path: path)
            // On an intact database, no migration step violates a constraint, so a violation means damage.
            case .SQLITE_CORRUPT, .SQLITE_CONSTRAINT: self = .damaged(path: path, reason: error.withoutValues)
            // GRDB throws this error, without SQL, if the journal mode cannot be set to WAL.
            case .SQLITE_ERROR where error.sql == nil: self = .notDurable(path: path)
            default: self = .fileNotUsable(path: path, reason: error.withoutValues)
            }
        default:
            self = .fileNotUsable(path: path, reason: "unexpected failure: \(type(of: error))")
        }
    }
}
