import CounterfoilSQL
import Foundation

/// A parameter of a statement, in the binary format of PostgreSQL.
struct Parameter: Sendable {
    /// The object identifier of the type; 0 if PostgreSQL infers the type, as for a null.
    let type: UInt32
    /// The value; nil for a null.
    let bytes: [UInt8]?
    /// Whether the value contains a text with a NUL character, which PostgreSQL cannot store.
    let hasTextWithNUL: Bool

    init(type: UInt32, bytes: [UInt8]?, hasTextWithNUL: Bool = false) {
        self.type = type
        self.bytes = bytes
        self.hasTextWithNUL = hasTextWithNUL
    }

    static let null = Parameter(type: 0, bytes: nil)

    init(_ value: (any ParameterValue)?) { self = value?.encoded ?? .null }

    /// Creates the parameter of a statement that is written for every database.
    init(_ value: SQLParameter) {
        switch value {
        case .text(let text): self = text.encoded
        case .bytes(let data): self = data.encoded
        case .integer(let number): self = number.encoded
        case .null: self = .null
        }
    }
}

/// The object identifiers of the types that this store uses; they never change.
enum TypeIdentifier {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let byteaArray: UInt32 = 1001
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let boolArray: UInt32 = 1000
    static let varchar: UInt32 = 1043
    static let name: UInt32 = 19
}

/// A Swift value that can be a parameter of a statement.
protocol ParameterValue: Sendable {
    var encoded: Parameter { get }
}

/// A Swift value that can be an element of an array parameter.
///
/// An array of bytes is a `bytea` and no array.
protocol SQLArrayElement: Sendable {
    static func parameter(of elements: [Self]) -> Parameter
}

/// A Swift value with a type of PostgreSQL that has an array type.
protocol SQLScalar: ParameterValue, SQLArrayElement {
    static var type: UInt32 { get }
    static var arrayType: UInt32 { get }
    var binary: [UInt8] { get }
    var hasNUL: Bool { get }
}

extension SQLScalar {
    var hasNUL: Bool { false }

    var encoded: Parameter { Parameter(type: Self.type, bytes: binary, hasTextWithNUL: hasNUL) }

    static func parameter(of elements: [Self]) -> Parameter {
        Parameter(
            type: arrayType, bytes: BinaryArray.encode(elements.map(\.binary), type: type),
            hasTextWithNUL: elements.contains(where: \.hasNUL))
    }
}

extension String: SQLScalar {
    static var type: UInt32 { TypeIdentifier.text }
    static var arrayType: UInt32 { TypeIdentifier.textArray }
    var binary: [UInt8] { Array(utf8) }
    var hasNUL: Bool { utf8.contains(0) }
}

extension Int64: SQLScalar {
    static var type: UInt32 { TypeIdentifier.int8 }
    static var arrayType: UInt32 { TypeIdentifier.int8Array }
    var binary: [UInt8] { bigEndianBytes }
}

extension Int: SQLScalar {
    static var type: UInt32 { TypeIdentifier.int8 }
    static var arrayType: UInt32 { TypeIdentifier.int8Array }
    var binary: [UInt8] { Int64(self).bigEndianBytes }
}

extension Bool: SQLScalar {
    static var type: UInt32 { TypeIdentifier.bool }
    static var arrayType: UInt32 { TypeIdentifier.boolArray }
    var binary: [UInt8] { [self ? 1 : 0] }
}

extension Data: SQLScalar {
    static var type: UInt32 { TypeIdentifier.bytea }
    static var arrayType: UInt32 { TypeIdentifier.byteaArray }
    var binary: [UInt8] { Array(self) }
}

extension UInt8: SQLArrayElement {
    static func parameter(of elements: [UInt8]) -> Parameter {
        Parameter(type: TypeIdentifier.bytea, bytes: elements)
    }
}

extension Array: ParameterValue where Element: SQLArrayElement {
    var encoded: Parameter { Element.parameter(of: self) }
}

extension Array: SQLArrayElement where Element == UInt8 {
    static func parameter(of elements: [[UInt8]]) -> Parameter {
        Parameter(
            type: TypeIdentifier.byteaArray, bytes: BinaryArray.encode(elements, type: TypeIdentifier.bytea))
    }
}

extension Optional: SQLArrayElement where Wrapped: SQLOptionalElement {
    static func parameter(of elements: [Wrapped?]) -> Parameter { Wrapped.parameter(ofOptional: elements) }
}

/// A Swift value that can be missing from an array parameter, where it is a null.
protocol SQLOptionalElement: Sendable {
    static func parameter(ofOptional elements: [Self?]) -> Parameter
}

extension SQLOptionalElement where Self: SQLScalar {
    static func parameter(ofOptional elements: [Self?]) -> Parameter {
        Parameter(
            type: arrayType, bytes: BinaryArray.encode(elements.map { $0?.binary }, type: type),
            hasTextWithNUL: elements.contains { $0?.hasNUL == true })
    }
}

extension String: SQLOptionalElement {}
extension Int64: SQLOptionalElement {}
extension Bool: SQLOptionalElement {}
extension Data: SQLOptionalElement {}

extension Array: SQLOptionalElement where Element == UInt8 {
    static func parameter(ofOptional elements: [[UInt8]?]) -> Parameter {
        Parameter(
            type: TypeIdentifier.byteaArray, bytes: BinaryArray.encode(elements, type: TypeIdentifier.bytea))
    }
}

/// The binary format of arrays with one dimension.
enum BinaryArray {
    /// Encodes an array; an element that is nil is a null.
    static func encode(_ elements: [[UInt8]?], type: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        // An empty array has no dimension.
        bytes += Int32(elements.isEmpty ? 0 : 1).bigEndianBytes
        bytes += Int32(elements.contains { $0 == nil } ? 1 : 0).bigEndianBytes
        bytes += type.bigEndianBytes
        guard !elements.isEmpty else { return bytes }
        bytes += Int32(elements.count).bigEndianBytes
        // The index of the first element.
        bytes += Int32(1).bigEndianBytes
        for element in elements {
            if let element {
                bytes += Int32(element.count).bigEndianBytes
                bytes += element
            } else {
                bytes += Int32(-1).bigEndianBytes
            }
        }
        return bytes
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Reads an integer in network byte order; nil unless the number of bytes is right.
    init?(bigEndianBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        self = Self(bigEndian: bytes.loadUnaligned(as: Self.self))
    }
}
