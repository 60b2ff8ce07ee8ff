import Foundation
import GRDB

/// The kind of a file, determined without writing to it.
///
/// If a WAL file exists beside it, SQLite may create the WAL index (`-shm`). Otherwise no file is created.
enum DatabaseFileKind: Hashable {
    /// There is no file.
    case missing
    /// An empty file, or a database without content.
    case empty
    /// A database with its `application_id` and the version of its schema (`user_version`).
    case sqlite(applicationID: Int64, version: Int)
    /// A file that is not an SQLite database.
    case other

    init(ofFileAt path: String) throws(SQLiteStore.OpeningRefusal) {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            self = .missing
            return
        }
        guard !isDirectory.boolValue else { throw .fileNotUsable(path: path, reason: "it is a directory") }
        guard let start = Self.start(ofFileAt: path) else {
            throw .fileNotUsable(path: path, reason: "it cannot be read")
        }
        if Self.size(ofFileAt: path + "-wal") > 0, start.isEmpty || Self.isDatabase(start) {
            try self.init(throughLogOf: path)
        } else {
            self.init(start: start)
        }
    }

    /// Parses the header of a database without a WAL file beside it (SQLite database file format, §1.3).
    ///
    /// SQLite is not used here, because it would create files beside a database in WAL mode even for a read. Without a
    /// WAL file, the header in the file is up to date.
    private init(start: [UInt8]) {
        guard !start.isEmpty else {
            self = .empty
            return
        }
        guard Self.isDatabase(start) else {
            self = .other
            return
        }
        func number(at offset: Int, bytes: Int) -> UInt32 {
            start[offset..<(offset + bytes)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        let version = number(at: 60, bytes: 4)
        let applicationID = number(at: 68, bytes: 4)
        // The first page is the root of the schema's B-tree: a leaf without cells means a database without tables.
        let hasTables = start[100] != 0x0D || number(at: 103, bytes: 2) > 0
        self =
            version == 0 && applicationID == 0 && !hasTables
            ? .empty : .sqlite(applicationID: Int64(applicationID), version: Int(Int32(bitPattern: version)))
    }

    /// Reads the identity on a read-only connection, because the WAL can hold a newer header than the file.
    private init(throughLogOf path: String) throws(SQLiteStore.OpeningRefusal) {
        // SQLite may create the WAL index (`-shm`) here. It is not deleted, because another process may already use
        // it.
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            self = try database.unsafeRead(Self.init(of:))
            try database.close()
        } catch {
            throw SQLiteStore.OpeningRefusal(error, path: path)
        }
    }

    init(of database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let applicationID = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let hasTables = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master)") ?? false
        self =
            version == 0 && applicationID == 0 && !hasTables
            ? .empty : .sqlite(applicationID: applicationID, version: version)
    }

    /// Reads the first 108 bytes: the file header and the B-tree header of the first page.
    ///
    /// Returns nil if the file cannot be opened.
    private static func start(ofFileAt path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.read(upToCount: 108)).map { Array($0) } ?? []
    }

    private static func isDatabase(_ start: [UInt8]) -> Bool {
        start.count == 108 && start.starts(with: "SQLite format 3\0".utf8)
    }

    static func size(ofFileAt path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
