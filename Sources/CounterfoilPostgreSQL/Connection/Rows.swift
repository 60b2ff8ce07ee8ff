import CLibPQ
import CounterfoilServer

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
        var columns = Columns(self, row: 0)
        return try read(&columns)
    }

    func all<Value>(_ read: (inout Columns) throws -> Value) throws -> [Value] {
        try (0..<count).map { row in
            var columns = Columns(self, row: row)
            return try read(&columns)
        }
    }

    /// Returns the rows of a list, without those that have a value which this version does not know.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of returned rows.
    ///   - unsupported: The reporter of the values because of which rows are left out.
    ///   - read: The function that reads a row.
    func list<Value>(
        atMost limit: Int = .max, noting unsupported: UnsupportedValues, _ read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        var list: [Value] = []
        for row in 0..<count where list.count < limit {
            var columns = Columns(self, row: row)
            do {
                list.append(try read(&columns))
            } catch StoreFault.unsupported(let value) {
                unsupported.note(value)
            }
        }
        return list
    }

    /// Returns the columns of the first row as flags, for a query that tests several conditions at once.
    func answers() throws -> [Bool] {
        try first { columns in
            var answers: [Bool] = []
            while columns.hasMore { answers.append(try columns.flag()) }
            return answers
        } ?? []
    }

    // The values of one row, for `Columns`.

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
