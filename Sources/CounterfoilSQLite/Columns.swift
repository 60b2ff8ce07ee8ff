import CounterfoilProtocol
import CounterfoilServer
import Foundation
import GRDBSQLite

/// The columns of the current row of a statement, read from left to right.
///
/// Reading a value throws `StoreFault.damaged` if the column has another type than expected or the value is invalid.
struct Columns: ~Copyable {
    private let statement: OpaquePointer
    private var index: CInt = 0

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// Whether there are unread columns.
    var hasMore: Bool { index < sqlite3_column_count(statement) }

    mutating func text() throws(StoreFault) -> String {
        guard let value = try optionalText() else { throw damage() }
        return value
    }

    mutating func optionalText() throws(StoreFault) -> String? {
        let column = next()
        switch sqlite3_column_type(statement, column) {
        case SQLITE_TEXT:
            let count = Int(sqlite3_column_bytes(statement, column))
            guard let start = sqlite3_column_text(statement, column) else { throw damage() }
            return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        case SQLITE_NULL: return nil
        default: throw damage()
        }
    }

    mutating func integer() throws(StoreFault) -> Int64 {
        guard let value = try optionalInteger() else { throw damage() }
        return value
    }

    mutating func optionalInteger() throws(StoreFault) -> Int64? {
        let column = next()
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return sqlite3_column_int64(statement, column)
        case SQLITE_NULL: return nil
        default: throw damage()
        }
    }

    mutating func flag() throws(StoreFault) -> Bool { try integer() != 0 }

    mutating func date() throws(StoreFault) -> Date { Date(microseconds: try integer()) }

    mutating func optionalDate() throws(StoreFault) -> Date? { try optionalInteger().map(Date.init(microseconds:)) }

    mutating func bytes() throws(StoreFault) -> [UInt8] {
        guard let value = try optionalBytes() else { throw damage() }
        return value
    }

    mutating func optionalBytes() throws(StoreFault) -> [UInt8]? {
        let column = next()
        switch sqlite3_column_type(statement, column) {
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, column))
            // The address of an empty blob is NULL.
            return Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count))
        case SQLITE_NULL: return nil
        default: throw damage()
        }
    }

    /// Reads a text column and parses it; throws `StoreFault.damaged` if the text is invalid.
    mutating func value<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> Value {
        guard let value = try? make(text()) else { throw damage() }
        return value
    }

    /// Reads a text column and parses it; returns nil for NULL, and throws `StoreFault.damaged` if the text is invalid.
    mutating func optionalValue<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> Value? {
        guard let text = try optionalText() else { return nil }
        guard let value = try? make(text) else { throw damage() }
        return value
    }

    /// Reads a text column and parses its values, which are delimited by spaces.
    mutating func list<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> [Value] {
        var values: [Value] = []
        for piece in try text().split(separator: " ") {
            guard let value = try? make(String(piece)) else { throw damage() }
            values.append(value)
        }
        return values
    }

    /// Reads a scope of any length.
    ///
    /// The length limit for the `scope` of a request does not apply here, because a consent combines the scopes of many
    /// grants.
    mutating func scope() throws(StoreFault) -> Scope {
        Scope(try list(Scope.Token.init(_:)))
    }

    /// Reads resource indicators, which are delimited by spaces.
    mutating func resources() throws(StoreFault) -> [Resource] {
        try list { try Resource($0) }
    }

    mutating func digest() throws(StoreFault) -> ArtefactDigest {
        guard let digest = ArtefactDigest(stored: try bytes()) else { throw damage() }
        return digest
    }

    /// Returns the fault for the column that was read last, with the name of the column but without its value.
    func damage() -> StoreFault {
        let name = sqlite3_column_name(statement, index - 1).map { String(cString: $0) } ?? "?"
        return .damaged("the column \(name) holds an invalid value")
    }

    private mutating func next() -> CInt {
        defer { index += 1 }
        return index
    }
}

extension Date {
    /// The time as it is stored: whole microseconds since 1970, in UTC.
    var microseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1_000_000).rounded()
        return Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
    }

    init(microseconds: Int64) {
        self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }
}
