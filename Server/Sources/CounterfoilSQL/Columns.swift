package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The columns of the current row of a statement, read from left to right.
///
/// Reading a value throws `StoreFault.damaged` if the column has another type than expected, or if an identifier or a
/// digest is invalid. It throws `StoreFault.unsupported` for a word, or an element of a list, that this version does
/// not know. A newer version can have written it.
package struct Columns: ~Copyable {
    private let row: any Row
    private var index = 0
    /// The kind of the record to which the next columns belong, for `StoreFault.unsupported`.
    package var record = "record"

    package init(_ row: any Row) { self.row = row }

    /// Whether there are unread columns.
    package var hasMore: Bool { index < row.count }

    package mutating func text() throws(StoreFault) -> String {
        guard let value = try optionalText() else { throw damage() }
        return value
    }

    package mutating func optionalText() throws(StoreFault) -> String? {
        let column = next()
        do { return try row.text(at: column) } catch { throw damage() }
    }

    package mutating func integer() throws(StoreFault) -> Int64 {
        guard let value = try optionalInteger() else { throw damage() }
        return value
    }

    package mutating func optionalInteger() throws(StoreFault) -> Int64? {
        let column = next()
        do { return try row.integer(at: column) } catch { throw damage() }
    }

    package mutating func flag() throws(StoreFault) -> Bool { try integer() != 0 }

    package mutating func date() throws(StoreFault) -> Date { Date(microseconds: try integer()) }

    mutating func optionalDate() throws(StoreFault) -> Date? {
        try optionalInteger().map(Date.init(microseconds:))
    }

    package mutating func bytes() throws(StoreFault) -> [UInt8] {
        guard let value = try optionalBytes() else { throw damage() }
        return value
    }

    package mutating func optionalBytes() throws(StoreFault) -> [UInt8]? {
        let column = next()
        do { return try row.bytes(at: column) } catch { throw damage() }
    }

    /// Reads a text column and parses it; throws `StoreFault.damaged` if the text is invalid.
    package mutating func value<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> Value {
        guard let value = try? make(text()) else { throw damage() }
        return value
    }

    /// Reads a text column and parses it; returns nil for NULL, and throws `StoreFault.damaged` if the text is invalid.
    mutating func optionalValue<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> Value? {
        guard let text = try optionalText() else { return nil }
        guard let value = try? make(text) else { throw damage() }
        return value
    }

    /// Reads a text column that contains one of several words; throws `StoreFault.unsupported` for another word.
    package mutating func word<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> Value {
        let text = try text()
        guard let value = try? make(text) else { throw .unsupported(unsupported(text)) }
        return value
    }

    /// Reads a text column with a value in one of several forms; returns nil for NULL, and throws
    /// `StoreFault.unsupported` for another form.
    mutating func optionalForm<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> Value? {
        guard let text = try optionalText() else { return nil }
        guard let value = try? make(text) else { throw .unsupported(unsupported()) }
        return value
    }

    /// Reads a text column and parses its values, which are delimited by spaces.
    ///
    /// Throws `StoreFault.unsupported` if this version cannot parse one of them. To ignore one could widen what the
    /// list allows.
    package mutating func list<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> [Value] {
        var values: [Value] = []
        for piece in try text().split(separator: " ") {
            guard let value = try? make(String(piece)) else { throw .unsupported(unsupported()) }
            values.append(value)
        }
        return values
    }

    /// Reads a text column like ``list(_:)``, without the values that this version cannot parse.
    ///
    /// It is only for a list in which a missing value allows less.
    mutating func supportedList<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> [Value] {
        try text().split(separator: " ").compactMap { try? make(String($0)) }
    }

    /// Reads a scope of any length.
    ///
    /// The length limit for the `scope` of a request does not apply here, because a consent combines the scopes of many
    /// grants.
    package mutating func scope() throws(StoreFault) -> Scope {
        Scope(try list(Scope.Token.init(_:)))
    }

    /// Reads resource indicators, which are delimited by spaces.
    package mutating func resources() throws(StoreFault) -> [Resource] {
        try list { try Resource($0) }
    }

    package mutating func digest() throws(StoreFault) -> ArtefactDigest {
        guard let digest = ArtefactDigest(stored: try bytes()) else { throw damage() }
        return digest
    }

    /// Returns the fault for the column that was read last, with the name of the column but without its value.
    package func damage() -> StoreFault {
        .damaged("the column \(name) holds an invalid value")
    }

    /// Returns the description of an unsupported value in the column that was read last.
    ///
    /// - Parameter text: The value, if it is a word and can appear in the log.
    package func unsupported(_ text: String? = nil) -> UnsupportedValue {
        UnsupportedValue(record: record, column: name, text: text)
    }

    /// The description of an invalid value in the column that was read last.
    package var invalid: UnsupportedValue { UnsupportedValue(record: record, column: name, isInvalid: true) }

    /// Returns the text of a column, whatever was read before; nil if it contains no text.
    ///
    /// - Parameter column: The position of the column, counted from 0.
    func text(at column: Int) -> String? { (try? row.text(at: column)) ?? nil }

    /// The name of the column that was read last.
    private var name: String { row.name(of: index - 1) }

    private mutating func next() -> Int {
        defer { index += 1 }
        return index
    }
}

/// A row of the result of a query; columns are counted from 0.
///
/// A condition in a query is an integer, 0 or 1.
package protocol Row {
    /// The number of columns.
    var count: Int { get }

    /// Returns the value of a column; nil for NULL. Throws if the column has another type, or does not exist.
    func text(at column: Int) throws(OtherType) -> String?
    func integer(at column: Int) throws(OtherType) -> Int64?
    func bytes(at column: Int) throws(OtherType) -> [UInt8]?

    /// Returns the name of a column, for messages.
    func name(of column: Int) -> String
}

/// The error for a column with another type than expected.
package struct OtherType: Error {
    package init() {}
}

extension Date {
    /// The time as it is stored: whole microseconds since 1970, in UTC.
    package var microseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1_000_000).rounded()
        return Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
    }

    package init(microseconds: Int64) {
        self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }
}
