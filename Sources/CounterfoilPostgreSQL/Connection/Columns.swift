import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The columns of the current row of a statement, read from left to right.
///
/// Reading a value throws `StoreFault.damaged` if the column has another type than expected, or if an identifier or a
/// digest is invalid. It throws `StoreFault.unsupported` for a word, or an element of a list, that this version does
/// not know. A newer version can have written it.
struct Columns: ~Copyable {
    private let rows: Rows
    private let row: Int
    private var index = 0
    /// The kind of the record to which the next columns belong, for `StoreFault.unsupported`.
    var record = "record"

    init(_ rows: Rows, row: Int) {
        self.rows = rows
        self.row = row
    }

    /// Whether there are unread columns.
    var hasMore: Bool { index < rows.columnCount }

    mutating func text() throws(StoreFault) -> String {
        guard let value = try optionalText() else { throw damage() }
        return value
    }

    mutating func optionalText() throws(StoreFault) -> String? {
        try next(TypeIdentifier.text, TypeIdentifier.varchar, TypeIdentifier.name)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func integer() throws(StoreFault) -> Int64 {
        guard let value = try optionalInteger() else { throw damage() }
        return value
    }

    mutating func optionalInteger() throws(StoreFault) -> Int64? {
        guard let bytes = try next(TypeIdentifier.int8, TypeIdentifier.int4, TypeIdentifier.int2) else { return nil }
        let value: Int64? =
            switch bytes.count {
            case 8: Int64(bigEndianBytes: bytes)
            case 4: Int32(bigEndianBytes: bytes).map(Int64.init)
            default: Int16(bigEndianBytes: bytes).map(Int64.init)
            }
        guard let value else { throw damage() }
        return value
    }

    mutating func flag() throws(StoreFault) -> Bool {
        guard let bytes = try next(TypeIdentifier.bool), bytes.count == 1 else { throw damage() }
        return bytes[0] != 0
    }

    mutating func date() throws(StoreFault) -> Date { Date(microseconds: try integer()) }

    mutating func optionalDate() throws(StoreFault) -> Date? { try optionalInteger().map(Date.init(microseconds:)) }

    mutating func bytes() throws(StoreFault) -> [UInt8] {
        guard let value = try optionalBytes() else { throw damage() }
        return value
    }

    mutating func optionalBytes() throws(StoreFault) -> [UInt8]? {
        try next(TypeIdentifier.bytea).map { Array($0) }
    }

    mutating func texts() throws(StoreFault) -> [String] {
        guard let texts = try optionalTexts() else { throw damage() }
        return texts
    }

    mutating func optionalTexts() throws(StoreFault) -> [String]? {
        try optionalElements(TypeIdentifier.textArray, of: TypeIdentifier.text) { String(decoding: $0, as: UTF8.self) }
    }

    mutating func byteStrings() throws(StoreFault) -> [[UInt8]] {
        let elements = try optionalElements(TypeIdentifier.byteaArray, of: TypeIdentifier.bytea) { $0 }
        guard let elements else { throw damage() }
        return elements
    }

    mutating func integers() throws(StoreFault) -> [Int64] {
        let elements = try optionalElements(TypeIdentifier.int8Array, of: TypeIdentifier.int8) { bytes in
            bytes.withUnsafeBytes { Int64(bigEndianBytes: $0) }
        }
        guard let elements else { throw damage() }
        return elements
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

    /// Reads a text column that contains one of several words; throws `StoreFault.unsupported` for another word.
    mutating func word<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> Value {
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
    mutating func list<Value>(_ make: (String) throws -> Value?) throws(StoreFault) -> [Value] {
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
        .damaged("the column \(name) holds an invalid value")
    }

    /// Returns the description of an unsupported value in the column that was read last.
    ///
    /// - Parameter text: The value, if it is a word and can appear in the log.
    func unsupported(_ text: String? = nil) -> UnsupportedValue {
        UnsupportedValue(record: record, column: name, text: text)
    }

    /// The name of the column that was read last.
    private var name: String { rows.columnName(index - 1) }

    /// Returns the bytes of the next column, which must have one of the types; nil for a null.
    private mutating func next(_ types: UInt32...) throws(StoreFault) -> UnsafeRawBufferPointer? {
        index += 1
        guard index <= rows.columnCount, types.contains(rows.columnType(index - 1)) else { throw damage() }
        return rows.bytes(row, index - 1)
    }

    /// Returns the elements of an array, which must not be null; nil if the array is null.
    private mutating func optionalElements<Element>(
        _ arrayType: UInt32, of type: UInt32, _ make: ([UInt8]) -> Element?
    ) throws(StoreFault) -> [Element]? {
        guard let bytes = try next(arrayType) else { return nil }
        guard let elements = BinaryArray.decode(bytes, type: type) else { throw damage() }
        var values: [Element] = []
        for element in elements {
            guard let element, let value = make(element) else { throw damage() }
            values.append(value)
        }
        return values
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
