import CounterfoilSQL
import Foundation
import GRDB
import GRDBSQLite

extension Database {
    /// The connection as the operations of the store use it.
    var connection: SQLConnection { SQLConnection(StatementsOfDatabase(database: self)) }
}

/// Runs statements with the C interface of SQLite, which reads the values of a row without an intermediate copy.
private struct StatementsOfDatabase: StatementRunner {
    let database: Database

    /// A file has one writer, so two commits never update one row at the same time.
    var counterSlots: Int64 { 1 }

    func run(
        _ sql: String, _ parameters: [SQLParameter], expecting limit: Int?, read: (inout Columns) throws -> RowStep
    ) throws -> Int {
        let compiled = try database.cachedStatement(sql: sql)
        let statement = compiled.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
            withExtendedLifetime(compiled) {}
        }
        for (position, parameter) in zip(CInt(1)..., parameters) {
            try check(parameter.bind(to: statement, at: position))
        }
        while true {
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                try check(code == SQLITE_DONE ? SQLITE_OK : code)
                return database.changesCount
            }
            var columns = Columns(RowOfStatement(statement: statement))
            guard try read(&columns) == .next else { return database.changesCount }
        }
    }

    func runLater(_ sql: String, _ parameters: [SQLParameter]) throws {
        _ = try run(sql, parameters, expecting: nil) { _ in .next }
    }

    func runLast(_ sql: String, _ parameters: [SQLParameter], read: (inout Columns) throws -> RowStep) throws -> Int {
        try run(sql, parameters, expecting: nil, read: read)
    }

    private func check(_ code: CInt) throws {
        guard code != SQLITE_OK else { return }
        let message = database.sqliteConnection.map { String(cString: sqlite3_errmsg($0)) }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }
}

/// The current row of a statement.
private struct RowOfStatement: CounterfoilSQL.Row {
    let statement: OpaquePointer

    var count: Int { Int(sqlite3_column_count(statement)) }

    func text(at column: Int) throws(OtherType) -> String? {
        switch sqlite3_column_type(statement, CInt(column)) {
        case SQLITE_TEXT:
            let count = Int(sqlite3_column_bytes(statement, CInt(column)))
            guard let start = sqlite3_column_text(statement, CInt(column)) else { throw OtherType() }
            return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        case SQLITE_NULL: return nil
        default: throw OtherType()
        }
    }

    func integer(at column: Int) throws(OtherType) -> Int64? {
        switch sqlite3_column_type(statement, CInt(column)) {
        case SQLITE_INTEGER: return sqlite3_column_int64(statement, CInt(column))
        case SQLITE_NULL: return nil
        default: throw OtherType()
        }
    }

    func bytes(at column: Int) throws(OtherType) -> [UInt8]? {
        switch sqlite3_column_type(statement, CInt(column)) {
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, CInt(column)))
            // The address of an empty blob is NULL.
            return Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, CInt(column)), count: count))
        case SQLITE_NULL: return nil
        default: throw OtherType()
        }
    }

    func name(of column: Int) -> String {
        sqlite3_column_name(statement, CInt(column)).map { String(cString: $0) } ?? "?"
    }
}

extension SQLParameter {
    /// Binds the value to a parameter of a statement, counted from 1, and returns the result code.
    fileprivate func bind(to statement: OpaquePointer, at position: CInt) -> CInt {
        // `SQLITE_TRANSIENT`: SQLite copies the value before it returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch self {
        case .text(let text):
            return sqlite3_bind_text(statement, position, text, CInt(text.utf8.count), copied)
        case .bytes(let data):
            return data.withUnsafeBytes { bytes in
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(statement, position, 0)
                    : sqlite3_bind_blob(statement, position, bytes.baseAddress, CInt(bytes.count), copied)
            }
        case .integer(let number): return sqlite3_bind_int64(statement, position, number)
        case .null: return sqlite3_bind_null(statement, position)
        }
    }
}
