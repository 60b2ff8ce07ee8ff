import CLibPQ
import CounterfoilSQL
import CounterfoilStore

/// The result of one statement, freed with its last reference.
///
/// It stays on the thread of its connection.
final class Rows {
    private let result: OpaquePointer
    /// The receiver that libpq calls if a row or column does not exist, also when the connection has ended.
    private let notices: NoticeRecord

    init(taking result: OpaquePointer, notices: NoticeRecord) {
        self.result = result
        self.notices = notices
    }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    /// The number of rows that an INSERT, UPDATE or DELETE has changed.
    var changes: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The command as the server names it, such as `COMMIT`, or `ROLLBACK` for a COMMIT of a failed transaction.
    var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    /// Returns the first row; nil if there is none.
    func first<Value>(_ read: (inout Columns) throws -> Value) throws -> Value? {
        guard count > 0 else { return nil }
        var columns = columns(of: 0)
        return try read(&columns)
    }

    func all<Value>(_ read: (inout Columns) throws -> Value) throws -> [Value] {
        try (0..<count).map { row in
            var columns = columns(of: row)
            return try read(&columns)
        }
    }

    /// Calls a function for each row until it returns `stop`.
    func forEach(_ read: (inout Columns) throws -> RowStep) throws -> RowStep {
        for row in 0..<count {
            var columns = columns(of: row)
            guard try read(&columns) == .next else { return .stop }
        }
        return .next
    }

    /// Returns the columns of the first row as flags, for a query that tests several conditions at once.
    func answers() throws -> [Bool] {
        try first { columns in
            var answers: [Bool] = []
            while columns.hasMore { answers.append(try columns.flag()) }
            return answers
        } ?? []
    }

    /// The columns of a row, which is counted from 0.
    func columns(of row: Int) -> Columns { Columns(RowOfResult(rows: self, row: row)) }

    // The values of one row.

    var columnCount: Int { Int(PQnfields(result)) }

    func columnName(_ column: Int) -> String { PQfname(result, Int32(column)).map { String(cString: $0) } ?? "?" }

    func columnType(_ column: Int) -> UInt32 { PQftype(result, Int32(column)) }

    /// Returns the bytes of a value, which are valid as long as this result; nil for a null.
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(result, Int32(row), Int32(column)) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), Int32(column)),
            count: Int(PQgetlength(result, Int32(row), Int32(column))))
    }
}

/// A row of a result.
private struct RowOfResult: Row {
    let rows: Rows
    let row: Int

    var count: Int { rows.columnCount }

    func text(at column: Int) throws(OtherType) -> String? {
        try value(at: column, TypeIdentifier.text, TypeIdentifier.varchar, TypeIdentifier.name)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    func integer(at column: Int) throws(OtherType) -> Int64? {
        let types = (TypeIdentifier.int8, TypeIdentifier.int4, TypeIdentifier.int2, TypeIdentifier.bool)
        guard let bytes = try value(at: column, types.0, types.1, types.2, types.3) else { return nil }
        let value: Int64? =
            switch bytes.count {
            case 8: Int64(bigEndianBytes: bytes)
            case 4: Int32(bigEndianBytes: bytes).map(Int64.init)
            case 2: Int16(bigEndianBytes: bytes).map(Int64.init)
            default: UInt8(bigEndianBytes: bytes).map(Int64.init)
            }
        guard let value else { throw OtherType() }
        return value
    }

    func bytes(at column: Int) throws(OtherType) -> [UInt8]? {
        try value(at: column, TypeIdentifier.bytea).map { Array($0) }
    }

    func name(of column: Int) -> String { rows.columnName(column) }

    /// Returns the bytes of a column, which must have one of the types; nil for a null.
    private func value(at column: Int, _ types: UInt32...) throws(OtherType) -> UnsafeRawBufferPointer? {
        guard column < rows.columnCount, types.contains(rows.columnType(column)) else { throw OtherType() }
        return rows.bytes(row, column)
    }
}
