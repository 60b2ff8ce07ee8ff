package import CounterfoilSQL
import Foundation
import GRDB

extension SQLiteStore: MovableStore {
    /// The `user_version` of a file whose content has moved; no schema has it, so no version of the program opens it.
    static let movedVersion = 1_000_000

    /// Calls a function that copies the tables, and closes the file for good if it returns.
    ///
    /// From then on, no process can open the file, and one that has it open cannot write to it.
    ///
    /// The writer connection holds the write lock meanwhile. The closing and the copying are not one transaction: if
    /// the process ends in between, the file is as before and the copy is complete.
    package func withExclusiveRead<Result>(
        to target: String, _ copy: (any TableReader) throws -> Result
    ) throws -> Result {
        try engine.pool.writeWithoutTransaction { database in
            var result: Result?
            try database.inTransaction(.immediate) {
                let tables = FileTables(database: database)
                result = try copy(tables)
                // A process that has the file open already does not look at the version again.
                for table in try tables.tables().keys.sorted() {
                    for change in ["INSERT", "UPDATE", "DELETE"] {
                        try database.execute(
                            sql: """
                                CREATE TRIGGER moved_\(table)_\(change.lowercased()) BEFORE \(change) ON \(table)
                                BEGIN SELECT RAISE(ABORT, 'the content of this file has moved to another database'); END
                                """)
                    }
                }
                try database.execute(
                    sql: "CREATE TABLE moved (target TEXT NOT NULL, at INTEGER NOT NULL) STRICT")
                try database.execute(
                    sql: "INSERT INTO moved (target, at) VALUES (?, ?)",
                    arguments: [target, Int64(Date().timeIntervalSince1970 * 1_000_000)])
                try database.execute(sql: "PRAGMA user_version = \(Self.movedVersion)")
                return .commit
            }
            guard let result else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
            return result
        }
    }

    /// Reads where the content of a file has moved; nil if that is unknown.
    static func target(ofFileAt path: String) -> String? {
        var configuration = Configuration()
        configuration.readonly = true
        guard let database = try? DatabaseQueue(path: path, configuration: configuration) else { return nil }
        defer { try? database.close() }
        return try? database.read { try String.fetchOne($0, sql: "SELECT target FROM moved") }
    }
}

/// The tables of a file, read in one transaction.
private struct FileTables: TableReader {
    let database: Database

    func tables() throws -> [String: Set<String>] {
        var tables: [String: Set<String>] = [:]
        let names = try String.fetchAll(
            database,
            sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        for name in names {
            tables[name] = Set(
                try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [name]))
        }
        return tables
    }

    func count(of table: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
    }

    func lastNumber(of table: String) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table])
    }

    func forEachRow(of table: StoredTable, _ body: ([SQLParameter]) throws -> Void) throws {
        try database.connection.forEachRow("SELECT \(table.columnList) FROM \(table.name)") { columns in
            try body(try table.values(&columns))
        }
    }
}
