import CounterfoilServer
import Foundation
import GRDB
import GRDBSQLite

extension Database {
    /// Runs an SQL statement, which is compiled once and cached, and returns the number of rows that an INSERT, UPDATE
    /// or DELETE changed.
    ///
    /// A text value that contains NUL is refused, because the result of SQL expressions on such a text is undefined.
    @discardableResult
    func run(_ sql: String, _ values: (any DatabaseValueConvertible)?...) throws -> Int {
        try run(sql, values: values)
    }

    @discardableResult
    func run(_ sql: String, values: [(any DatabaseValueConvertible)?]) throws -> Int {
        for case let text as String in values where text.utf8.contains(0) {
            throw StoreFault.damaged("a text to be stored contains a NUL character")
        }
        try rows(of: sql, values) { _ in .next }
        return changesCount
    }

    /// Returns the first row of a query; nil if there is none.
    func first<Value>(
        _ sql: String,
        _ values: (any DatabaseValueConvertible)?...,
        read: (inout Columns) throws -> Value
    ) throws -> Value? {
        var first: Value?
        try rows(of: sql, values) { columns in
            first = try read(&columns)
            return .stop
        }
        return first
    }

    func all<Value>(
        _ sql: String,
        _ values: (any DatabaseValueConvertible)?...,
        read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try all(sql, values: values, read: read)
    }

    func all<Value>(
        _ sql: String,
        values: [(any DatabaseValueConvertible)?],
        read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        var all: [Value] = []
        try rows(of: sql, values) { columns in
            all.append(try read(&columns))
            return .next
        }
        return all
    }

    /// Returns the rows of a list, without those that have an invalid value or one that this version does not know.
    ///
    /// - Parameters:
    ///   - sql: The query. For a list of at most `limit` rows it has no LIMIT, so that a row that is left out does not
    ///     shorten the list.
    ///   - values: The parameters of the query.
    ///   - limit: The maximum number of returned rows.
    ///   - unsupported: The reporter of the values because of which rows are left out.
    ///   - skipsInvalid: Whether a row with an invalid value is left out; if false, the whole list fails.
    ///   - read: The function that reads a row.
    func list<Value>(
        _ sql: String,
        _ values: (any DatabaseValueConvertible)?...,
        atMost limit: Int = .max,
        noting unsupported: UnsupportedValues,
        skippingInvalid skipsInvalid: Bool = true,
        read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        var list: [Value] = []
        guard limit > 0 else { return list }
        try rows(of: sql, values) { columns in
            do {
                list.append(try read(&columns))
            } catch StoreFault.unsupported(let value) {
                unsupported.note(value)
            } catch StoreFault.damaged where skipsInvalid {
                unsupported.note(columns.invalid)
            }
            return list.count < limit ? .next : .stop
        }
        return list
    }

    /// Returns the columns of the first row as flags, for a query that tests several conditions at once.
    func answers(_ sql: String, _ values: (any DatabaseValueConvertible)?...) throws -> [Bool] {
        var answers: [Bool] = []
        try rows(of: sql, values) { columns in
            while columns.hasMore { answers.append(try columns.flag()) }
            return .stop
        }
        return answers
    }

    /// Reads the rows of a query one by one, without collecting them.
    func forEachRow(
        _ sql: String, _ values: (any DatabaseValueConvertible)?..., read: (inout Columns) throws -> Void
    ) throws {
        try rows(of: sql, values) { columns in
            try read(&columns)
            return .next
        }
    }

    private enum RowStep { case next, stop }

    /// Steps through a statement with the C interface of SQLite, which reads the values of a row without an
    /// intermediate copy.
    private func rows(
        of sql: String,
        _ values: [(any DatabaseValueConvertible)?],
        read: (inout Columns) throws -> RowStep
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
            guard try read(&columns) == .next else { return }
        }
    }

    private func check(_ code: CInt) throws {
        guard code != SQLITE_OK else { return }
        let message = sqliteConnection.map { String(cString: sqlite3_errmsg($0)) }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }
}

extension (any DatabaseValueConvertible)? {
    /// Binds the value to a parameter of a statement, counted from 1, and returns the result code.
    fileprivate func bind(to statement: OpaquePointer, at position: CInt) -> CInt {
        // `SQLITE_TRANSIENT`: SQLite copies the value before it returns.
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
