import CLibPQ

/// The result of one statement, freed with its last reference.
///
/// It stays on the thread of its connection. Rows and columns are counted from 0.
package final class Rows {
    private let result: OpaquePointer
    /// The receiver that libpq calls if a row or column does not exist, also when the connection has ended.
    private let notices: NoticeRecord

    init(taking result: OpaquePointer, notices: NoticeRecord) {
        self.result = result
        self.notices = notices
    }

    deinit { PQclear(result) }

    package var count: Int { Int(PQntuples(result)) }

    /// The number of rows that an INSERT, UPDATE or DELETE has changed.
    package var changes: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The command as the server names it, such as `COMMIT`, or `ROLLBACK` for a COMMIT of a failed transaction.
    package var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    /// Returns the first row; nil if there is none.
    package func first<Value>(_ read: (inout ResultRow) throws -> Value) throws -> Value? {
        guard count > 0 else { return nil }
        var row = ResultRow(self, 0)
        return try read(&row)
    }

    package func all<Value>(_ read: (inout ResultRow) throws -> Value) throws -> [Value] {
        try (0..<count).map { number in
            var row = ResultRow(self, number)
            return try read(&row)
        }
    }

    /// Returns the columns of the first row as flags, for a query that tests several conditions at once.
    package func answers() throws -> [Bool] {
        try first { row in
            var answers: [Bool] = []
            while row.hasMore { answers.append(try row.flag()) }
            return answers
        } ?? []
    }

    package var columnCount: Int { Int(PQnfields(result)) }

    package func columnName(_ column: Int) -> String {
        PQfname(result, Int32(column)).map { String(cString: $0) } ?? "?"
    }

    /// The error for a column with another type than expected, or that does not exist.
    package struct OtherType: Error {}

    /// Returns a text; nil for a null.
    package func text(_ row: Int, _ column: Int) throws(OtherType) -> String? {
        try value(row, column, TypeIdentifier.text, TypeIdentifier.varchar, TypeIdentifier.name)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns an integer, or a flag as 0 or 1; nil for a null.
    package func integer(_ row: Int, _ column: Int) throws(OtherType) -> Int64? {
        let types = (TypeIdentifier.int8, TypeIdentifier.int4, TypeIdentifier.int2, TypeIdentifier.bool)
        guard let bytes = try value(row, column, types.0, types.1, types.2, types.3) else { return nil }
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

    /// Returns bytes; nil for a null.
    package func bytes(_ row: Int, _ column: Int) throws(OtherType) -> [UInt8]? {
        try value(row, column, TypeIdentifier.bytea).map { Array($0) }
    }

    /// Returns the bytes of a column, which must have one of the types; nil for a null.
    private func value(
        _ row: Int, _ column: Int, _ types: UInt32...
    ) throws(OtherType) -> UnsafeRawBufferPointer? {
        guard column < columnCount, types.contains(PQftype(result, Int32(column))) else { throw OtherType() }
        guard PQgetisnull(result, Int32(row), Int32(column)) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), Int32(column)),
            count: Int(PQgetlength(result, Int32(row), Int32(column))))
    }
}

/// A row of a result, whose columns are read from left to right.
package struct ResultRow {
    private let rows: Rows
    private let number: Int
    private var column = 0

    fileprivate init(_ rows: Rows, _ number: Int) {
        self.rows = rows
        self.number = number
    }

    /// Whether there are unread columns.
    package var hasMore: Bool { column < rows.columnCount }

    package mutating func text() throws(DatabaseFault) -> String {
        guard let value = try optionalText() else { throw invalid }
        return value
    }

    package mutating func optionalText() throws(DatabaseFault) -> String? { try next(rows.text) }

    package mutating func integer() throws(DatabaseFault) -> Int64 {
        guard let value = try optionalInteger() else { throw invalid }
        return value
    }

    package mutating func optionalInteger() throws(DatabaseFault) -> Int64? { try next(rows.integer) }

    package mutating func flag() throws(DatabaseFault) -> Bool { try integer() != 0 }

    package mutating func bytes() throws(DatabaseFault) -> [UInt8] {
        guard let value = try optionalBytes() else { throw invalid }
        return value
    }

    package mutating func optionalBytes() throws(DatabaseFault) -> [UInt8]? { try next(rows.bytes) }

    private mutating func next<Value>(
        _ read: (_ row: Int, _ column: Int) throws(Rows.OtherType) -> Value?
    ) throws(DatabaseFault) -> Value? {
        column += 1
        do { return try read(number, column - 1) } catch { throw invalid }
    }

    /// The fault for the column that was read last, with its name and without its value.
    private var invalid: DatabaseFault { .failed("the column \(rows.columnName(column - 1)) holds an invalid value") }
}
