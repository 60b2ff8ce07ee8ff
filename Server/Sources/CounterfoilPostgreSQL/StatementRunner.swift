import CounterfoilSQL
import PostgreSQLDriver

extension Transaction: StatementRunner {
    /// Enough that the commits of several servers, each with a few connections, seldom choose the same row.
    package var counterSlots: Int64 { 64 }

    package func runLater(_ sql: String, _ parameters: [SQLParameter]) throws {
        try runLater(statement(sql, parameters))
    }

    /// The number of rows that are fetched beyond those that a list needs, because some may be left out of it.
    private static let reserve = 16

    package func run(
        _ sql: String, _ parameters: [SQLParameter], expecting limit: Int?, read: (inout Columns) throws -> RowStep
    ) throws -> Int {
        guard let limit else {
            let rows = try rows(of: statement(sql, parameters))
            _ = try rows.forEach(read)
            return rows.changes
        }
        let (query, values) = (numbered(sql), parameters.map(Parameter.init))
        var offset = 0
        while true {
            let count = min(limit, 10_000) + Self.reserve
            let page = "\(query) LIMIT \(count) OFFSET $\(values.count + 1)"
            let rows = try rows(of: Statement(page, parameters: values + [offset.encoded]))
            guard try rows.forEach(read) == .next, rows.count == count else { return rows.changes }
            offset += count
        }
    }

    package func runLast(
        _ sql: String, _ parameters: [SQLParameter], read: (inout Columns) throws -> RowStep
    ) throws -> Int {
        let rows: Rows = try runLast(statement(sql, parameters))
        _ = try rows.forEach(read)
        return rows.changes
    }

    private func statement(_ sql: String, _ parameters: [SQLParameter]) -> Statement {
        Statement(numbered(sql), parameters: parameters.map(Parameter.init))
    }
}

extension Parameter {
    /// Creates the parameter of a statement that is written for every database.
    fileprivate init(_ value: SQLParameter) {
        switch value {
        case .text(let text): self = text.encoded
        case .bytes(let data): self = data.encoded
        case .integer(let number): self = number.encoded
        case .null: self = .null
        }
    }
}

extension Rows {
    /// Calls a function for each row until it returns `stop`.
    func forEach(_ read: (inout Columns) throws -> RowStep) throws -> RowStep {
        for number in 0..<count {
            var columns = Columns(StoredRow(rows: self, number: number))
            guard try read(&columns) == .next else { return .stop }
        }
        return .next
    }
}

/// A row of a result.
private struct StoredRow: Row {
    let rows: Rows
    let number: Int

    var count: Int { rows.columnCount }

    func text(at column: Int) throws(OtherType) -> String? {
        do { return try rows.text(number, column) } catch { throw OtherType() }
    }

    func integer(at column: Int) throws(OtherType) -> Int64? {
        do { return try rows.integer(number, column) } catch { throw OtherType() }
    }

    func bytes(at column: Int) throws(OtherType) -> [UInt8]? {
        do { return try rows.bytes(number, column) } catch { throw OtherType() }
    }

    func name(of column: Int) -> String { rows.columnName(column) }
}
