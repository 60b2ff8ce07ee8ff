import CounterfoilServer
import Foundation
import GRDB

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
        try cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
        return changesCount
    }

    /// The first row of a query that is compiled once for each connection.
    func first<Value>(
        _ sql: String,
        _ values: (any DatabaseValueConvertible)?...,
        read: (inout Columns) throws -> Value
    ) throws -> Value? {
        guard let row = try Row.fetchOne(cachedStatement(sql: sql), arguments: StatementArguments(values)) else {
            return nil
        }
        var columns = Columns(row)
        return try read(&columns)
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
        try Row.fetchAll(cachedStatement(sql: sql), arguments: StatementArguments(values)).map { row in
            var columns = Columns(row)
            return try read(&columns)
        }
    }

    /// The answers of a query that asks several yes-or-no questions at once.
    func answers(_ sql: String, _ values: (any DatabaseValueConvertible)?...) throws -> [Bool] {
        guard let row = try Row.fetchOne(cachedStatement(sql: sql), arguments: StatementArguments(values)) else {
            return []
        }
        var columns = Columns(row)
        return try (0..<row.count).map { _ in try columns.flag() }
    }
}
