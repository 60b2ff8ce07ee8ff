import Foundation
import GRDB

/// What a file is, found out without writing a byte to it or beside it.
enum FileIdentity: Hashable {
    /// There is no file.
    case missing
    /// There is a file or a database with nothing in it.
    case empty
    /// A database with its application and the version of its schema.
    case sqlite(applicationID: Int64, version: Int)
    /// Something else.
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

    /// Reads the header of the file itself (the database file format, §1.3), which is all there is without a log.
    ///
    /// SQLite would make files beside a database that works with a log, even when it only reads.
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
        // The first page is the root of the schema's tree: a leaf without cells is a database without tables.
        let hasTables = start[100] != 0x0D || number(at: 103, bytes: 2) > 0
        self =
            version == 0 && applicationID == 0 && !hasTables
            ? .empty : .sqlite(applicationID: Int64(applicationID), version: Int(Int32(bitPattern: version)))
    }

    /// Asks SQLite, through a connection that cannot write: what the log holds counts more than the header.
    private init(throughLogOf path: String) throws(SQLiteStore.OpeningRefusal) {
        // SQLite may make an index of the log here, a file with -shm. It stays: another process may use it by now.
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

    /// What an open database says.
    init(of database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let applicationID = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let hasTables = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master)") ?? false
        self =
            version == 0 && applicationID == 0 && !hasTables
            ? .empty : .sqlite(applicationID: applicationID, version: version)
    }

    /// The first bytes of a file: the header and the head of the first page; nil when they cannot be read.
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
