package import CounterfoilStore
package import Foundation

/// A connection to the database of a store, in a transaction or outside of one.
///
/// The parameters in the SQL are `?`, or `?1`, `?2` and so on. The SQL is what SQLite and PostgreSQL have in common;
/// the scalar functions `max`, `min`, `instr` and `json_patch` are those of SQLite.
package struct SQLConnection {
    private let runner: any StatementRunner

    /// The row of a client in a table of counts that a commit updates, chosen at random among
    /// ``StatementRunner/counterSlots``.
    ///
    /// The counts of a client are the sums of its rows. With a single row, the commits that count would wait for each
    /// other, and then run again. Another attempt of the same commit may choose another row.
    var counterSlot: Int64 { Int64.random(in: 0..<runner.counterSlots) }

    /// The row of this process in a table of counts, for counts that it adds in one commit at a time.
    var processSlot: Int64 { Self.numberOfProcess % runner.counterSlots }

    private static let numberOfProcess = Int64.random(in: 0..<Int64(Int32.max))

    package init(_ runner: any StatementRunner) { self.runner = runner }

    /// Runs a statement of a commit whose answer does not matter: it is sent with the next statement that has one, or
    /// with the end of the transaction.
    ///
    /// If it fails, the commit fails. A text value that contains NUL is refused, because no database can store it.
    package func send(_ sql: String, _ values: (any SQLValue)?...) throws { try send(sql, values: values) }

    package func send(_ sql: String, values: [(any SQLValue)?]) throws {
        try runner.runLater(sql, try Self.parameters(values))
    }

    /// Runs a statement, which is compiled once and cached, and returns the number of rows that an INSERT, UPDATE or
    /// DELETE changed.
    ///
    /// It is a round trip to the database. ``send(_:_:)`` is none.
    package func run(_ sql: String, _ values: (any SQLValue)?...) throws -> Int { try run(sql, values: values) }

    package func run(_ sql: String, values: [(any SQLValue)?]) throws -> Int {
        try rows(of: sql, values) { _ in .next }
    }

    /// Runs the statement that completes a commit together with the end of the transaction, in one round trip.
    ///
    /// - Returns: The number of rows that the statement changed. If it is 0, and nothing was sent before, a later
    ///   statement begins another transaction.
    package func runLast(_ sql: String, _ values: (any SQLValue)?...) throws -> Int {
        try runLast(sql, values: values)
    }

    package func runLast(_ sql: String, values: [(any SQLValue)?]) throws -> Int {
        try runner.runLast(sql, try Self.parameters(values)) { _ in .next }
    }

    /// Returns the columns of the first row as flags, for a query that completes a commit, as by ``runLast(_:_:)``.
    func answersLast(_ sql: String, _ values: (any SQLValue)?...) throws -> [Bool] {
        var answers: [Bool] = []
        _ = try runner.runLast(sql, try Self.parameters(values)) { columns in
            while columns.hasMore { answers.append(try columns.flag()) }
            return .stop
        }
        return answers
    }

    /// Returns the first row of a query; nil if there is none.
    package func first<Value>(
        _ sql: String, _ values: (any SQLValue)?..., read: (inout Columns) throws -> Value
    ) throws -> Value? {
        try first(sql, values: values, read: read)
    }

    package func first<Value>(
        _ sql: String, values: [(any SQLValue)?], read: (inout Columns) throws -> Value
    ) throws -> Value? {
        var first: Value?
        try rows(of: sql, values) { columns in
            first = try read(&columns)
            return .stop
        }
        return first
    }

    package func all<Value>(
        _ sql: String, _ values: (any SQLValue)?..., read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try all(sql, values: values, read: read)
    }

    package func all<Value>(
        _ sql: String, values: [(any SQLValue)?], read: (inout Columns) throws -> Value
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
    package func list<Value>(
        _ sql: String, _ values: (any SQLValue)?..., atMost limit: Int = .max, noting unsupported: UnsupportedValues,
        skippingInvalid skipsInvalid: Bool = true, read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try list(
            sql, values: values, atMost: limit, noting: unsupported, skippingInvalid: skipsInvalid, read: read)
    }

    package func list<Value>(
        _ sql: String, values: [(any SQLValue)?], atMost limit: Int = .max, noting unsupported: UnsupportedValues,
        skippingInvalid skipsInvalid: Bool = true, read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        var list: [Value] = []
        guard limit > 0 else { return list }
        try rows(of: sql, values, expecting: limit) { columns in
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
    package func answers(_ sql: String, _ values: (any SQLValue)?...) throws -> [Bool] {
        try first(sql, values: values) { columns in
            var answers: [Bool] = []
            while columns.hasMore { answers.append(try columns.flag()) }
            return answers
        } ?? []
    }

    /// Reads the rows of a query one by one.
    package func forEachRow(
        _ sql: String, _ values: (any SQLValue)?..., read: (inout Columns) throws -> Void
    ) throws {
        try rows(of: sql, values) { columns in
            try read(&columns)
            return .next
        }
    }

    @discardableResult
    private func rows(
        of sql: String, _ values: [(any SQLValue)?], expecting limit: Int? = nil,
        read: (inout Columns) throws -> RowStep
    ) throws -> Int {
        try runner.run(sql, try Self.parameters(values), expecting: limit == .max ? nil : limit, read: read)
    }

    private static func parameters(_ values: [(any SQLValue)?]) throws -> [SQLParameter] {
        let parameters = values.map { $0?.parameter ?? .null }
        for case .text(let text) in parameters where text.utf8.contains(0) {
            throw StoreFault.damaged("a text to be stored contains a NUL character")
        }
        return parameters
    }
}

/// A connection of one database, as far as it runs statements.
package protocol StatementRunner {
    /// Runs a statement, calls a function for each row until it returns ``RowStep/stop``, and returns the number of
    /// rows that an INSERT, UPDATE or DELETE changed.
    ///
    /// - Parameters:
    ///   - sql: The statement. There are few different ones, so it can be compiled once and cached.
    ///   - parameters: The values of its parameters, by position.
    ///   - limit: The number of rows that are probably read, for a query without LIMIT; nil for all.
    ///   - read: The function that reads a row.
    func run(
        _ sql: String, _ parameters: [SQLParameter], expecting limit: Int?, read: (inout Columns) throws -> RowStep
    ) throws -> Int

    /// Runs a statement of a transaction at any time before the next one with an answer, or before the commit.
    func runLater(_ sql: String, _ parameters: [SQLParameter]) throws

    /// The number of rows among which commits spread the counts of a client; 1 if they run one after another anyway.
    var counterSlots: Int64 { get }

    /// Runs the last statement of a transaction, which may be committed with it, and reads its rows.
    func runLast(_ sql: String, _ parameters: [SQLParameter], read: (inout Columns) throws -> RowStep) throws -> Int
}

/// The decision of a reader whether a statement continues after a row.
package enum RowStep: Sendable { case next, stop }

/// A value of a parameter, by the type of its column.
package enum SQLParameter: Sendable, Hashable {
    case text(String)
    case bytes(Data)
    case integer(Int64)
    case null
}

/// A Swift value that can be a parameter of a statement.
///
/// Flags are the integers 0 and 1. Times are microseconds since 1970.
package protocol SQLValue: Sendable {
    var parameter: SQLParameter { get }
}

extension String: SQLValue {
    package var parameter: SQLParameter { .text(self) }
}

extension Data: SQLValue {
    package var parameter: SQLParameter { .bytes(self) }
}

extension Int64: SQLValue {
    package var parameter: SQLParameter { .integer(self) }
}

extension Int: SQLValue {
    package var parameter: SQLParameter { .integer(Int64(self)) }
}

extension Bool: SQLValue {
    package var parameter: SQLParameter { .integer(self ? 1 : 0) }
}
