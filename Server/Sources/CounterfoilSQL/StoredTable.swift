import Crypto
import Foundation

/// A table with the columns that are copied to a store on another database.
package struct StoredTable: Sendable, Hashable {
    /// A column and the type of its values.
    package struct Column: Sendable, Hashable {
        package let name: String
        package let type: ValueType

        package init(name: String, type: ValueType) {
            self.name = name
            self.type = type
        }
    }

    /// The types of the values in a store.
    package enum ValueType: Sendable, Hashable {
        case integer
        case text
        case bytes
    }

    package let name: String
    package let columns: [Column]

    package init(name: String, columns: [Column]) {
        self.name = name
        self.columns = columns
    }

    /// The names of the columns, delimited by commas.
    package var columnList: String { columns.map(\.name).joined(separator: ", ") }

    /// Reads a row with the columns of the table.
    package func values(_ columns: inout Columns) throws -> [SQLParameter] {
        var values: [SQLParameter] = []
        for column in self.columns {
            switch column.type {
            case .integer: values.append(try columns.optionalInteger().map { .integer($0) } ?? .null)
            case .text: values.append(try columns.optionalText().map { .text($0) } ?? .null)
            case .bytes: values.append(try columns.optionalBytes().map { .bytes(Data($0)) } ?? .null)
            }
        }
        return values
    }
}

/// The number of the rows of a table, and the sum of their hashes, which does not depend on their order.
package struct TableSum: Sendable, Hashable {
    package private(set) var rows = 0
    private var sum: UInt64 = 0

    package init() {}

    /// Adds a row.
    package mutating func add(_ row: [SQLParameter]) {
        var hash = SHA256()
        for value in row {
            switch value {
            case .null: hash.update(data: [0])
            case .integer(let number): Self.add(1, withUnsafeBytes(of: number.bigEndian) { Array($0) }, to: &hash)
            case .text(let text): Self.add(2, Array(text.utf8), to: &hash)
            case .bytes(let bytes): Self.add(3, Array(bytes), to: &hash)
            }
        }
        rows += 1
        sum &+= hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func add(_ type: UInt8, _ bytes: [UInt8], to hash: inout SHA256) {
        hash.update(data: [type] + withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { Array($0) })
        hash.update(data: bytes)
    }
}

/// The tables of a store whose content moves to another database.
package protocol TableReader {
    /// The names of the tables, each with the names of its columns.
    func tables() throws -> [String: Set<String>]
    /// Returns the number of rows of a table.
    func count(of table: String) throws -> Int
    /// Returns the highest number that a table has ever given to a row, also to a deleted one; nil if it keeps none.
    func lastNumber(of table: String) throws -> Int64?
    /// Reads all rows of a table.
    func forEachRow(of table: StoredTable, _ body: ([SQLParameter]) throws -> Void) throws
}

/// A store whose content can move to another database.
package protocol MovableStore: Sendable {
    /// Calls a function that copies the tables, and closes the store for good if it returns.
    ///
    /// Nothing can be written to the store meanwhile. If the function throws an error, the store stays as it is.
    ///
    /// - Parameters:
    ///   - target: The name of the other database, which an attempt to open this store reports from then on.
    ///   - copy: The function.
    func withExclusiveRead<Result>(to target: String, _ copy: (any TableReader) throws -> Result) throws -> Result
}
