import CounterfoilServer
import Foundation
import GRDB
import GRDBSQLite

extension Database {
    /// Runs a statement that is compiled once for each connection; the number of rows that an INSERT, UPDATE or DELETE changed.
    ///
    /// A text with a NUL is refused, because SQLite would keep it only up to there.
    @discardableResult
    func run(_ sql: String, _ values: (any DatabaseValueConvertible)?...) throws -> Int {
        try run(sql, values: values)
    }

    /// Runs a statement with a list of values.
    @discardableResult
    func run(_ sql: String, values: [(any DatabaseValueConvertible)?]) throws -> Int {
        for case let text as String in values where text.utf8.contains(0) {
            throw StoreFault.damaged("a text that was to be kept has a NUL character in it")
        }
        try rows(of: sql, values) { _ in .more }
        return changesCount
    }

    /// The first row of a query that is compiled once for each connection.
    func first<Value>(
        _ sql: String,
        _ values: (any DatabaseValueConvertible)?...,
        read: (inout Columns) throws -> Value
    ) throws -> Value? {
        var first: Value?
        try rows(of: sql, values) { columns in
            first = try read(&columns)
            return .enough
        }
        return first
    }

    /// Every row of a query.
    func all<Value>(
        _ sql: String,
        _ values: (any DatabaseValueConvertible)?...,
        read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try all(sql, values: values, read: read)
    }

    /// Every row of a query with a list of values.
    func all<Value>(
        _ sql: String,
        values: [(any DatabaseValueConvertible)?],
        read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        var all: [Value] = []
        try rows(of: sql, values) { columns in
            all.append(try read(&columns))
            return .more
        }
        return all
    }

    /// The answers of a query that asks several yes-or-no questions at once.
    func answers(_ sql: String, _ values: (any DatabaseValueConvertible)?...) throws -> [Bool] {
        var answers: [Bool] = []
        try rows(of: sql, values) { columns in
            while columns.hasMore { answers.append(try columns.flag()) }
            return .enough
        }
        return answers
    }

    /// Reads the rows of a query one by one, without holding them.
    func forEachRow(_ sql: String, read: (inout Columns) throws -> Void) throws {
        try rows(of: sql, []) { columns in
            try read(&columns)
            return .more
        }
    }

    /// Whether another row is wanted.
    private enum Appetite { case more, enough }

    /// Steps through a statement on SQLite's own interface: a row that becomes a value at once needs no copy between.
    private func rows(
        of sql: String,
        _ values: [(any DatabaseValueConvertible)?],
        read: (inout Columns) throws -> Appetite
    ) throws {
        let compiled = try cachedStatement(sql: sql)
        let statement = compiled.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
            withExtendedLifetime(compiled) {}
        }
        for (position, value) in zip(CInt(1)..., values) {
            try check(value.bind(to: statement, at: position))
        }
        while true {
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else { return try check(code == SQLITE_DONE ? SQLITE_OK : code) }
            var columns = Columns(statement)
            guard try read(&columns) == .more else { return }
        }
    }

    private func check(_ code: CInt) throws {
        guard code != SQLITE_OK else { return }
        let message = sqliteConnection.map { String(cString: sqlite3_errmsg($0)) }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }
}

extension (any DatabaseValueConvertible)? {
    /// Gives a statement the value of one of its parameters, which are counted from 1; the result code.
    fileprivate func bind(to statement: OpaquePointer, at position: CInt) -> CInt {
        // SQLite copies what it is given before it returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch self?.databaseValue.storage {
        case .string(let text):
            return sqlite3_bind_text(statement, position, text, CInt(text.utf8.count), copied)
        case .blob(let data):
            return data.withUnsafeBytes { bytes in
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(statement, position, 0)
                    : sqlite3_bind_blob(statement, position, bytes.baseAddress, CInt(bytes.count), copied)
            }
        case .int64(let number): return sqlite3_bind_int64(statement, position, number)
        case .double(let number): return sqlite3_bind_double(statement, position, number)
        case .null, nil: return sqlite3_bind_null(statement, position)
        }
    }
}
