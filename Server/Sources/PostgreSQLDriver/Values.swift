package import Foundation

/// A parameter of a statement, in the binary format of PostgreSQL.
package struct Parameter: Sendable {
    /// The object identifier of the type; 0 if PostgreSQL infers the type, as for a null.
    let type: UInt32
    /// The value; nil for a null.
    let bytes: [UInt8]?
    /// Whether the value contains a text with a NUL character, which PostgreSQL cannot store.
    let hasTextWithNUL: Bool

    package static let null = Parameter(type: 0, bytes: nil, hasTextWithNUL: false)
}

/// The object identifiers of the types that this module uses; they never change.
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
package protocol ParameterValue: Sendable {
    var encoded: Parameter { get }
}

/// A Swift value with a type of PostgreSQL, which can be an element of an array, too.
package protocol ParameterElement: Sendable {
    static var type: UInt32 { get }
    static var arrayType: UInt32 { get }
    /// The value in binary format; nil for a null.
    var binary: [UInt8]? { get }
    /// Whether the value is a text with a NUL character.
    var hasNUL: Bool { get }
}

extension ParameterElement {
    package var hasNUL: Bool { false }

    /// The parameter, which each type returns itself, so that the compiler knows the type of a value of another module.
    fileprivate var parameter: Parameter { Parameter(type: Self.type, bytes: binary, hasTextWithNUL: hasNUL) }
}

extension String: ParameterValue, ParameterElement {
    package var encoded: Parameter { parameter }
    package static var type: UInt32 { TypeIdentifier.text }
    package static var arrayType: UInt32 { TypeIdentifier.textArray }
    package var binary: [UInt8]? { Array(utf8) }
    package var hasNUL: Bool { utf8.contains(0) }
}

extension Int64: ParameterValue, ParameterElement {
    package var encoded: Parameter { parameter }
    package static var type: UInt32 { TypeIdentifier.int8 }
    package static var arrayType: UInt32 { TypeIdentifier.int8Array }
    package var binary: [UInt8]? { bigEndianBytes }
}

extension Int: ParameterValue, ParameterElement {
    package var encoded: Parameter { parameter }
    package static var type: UInt32 { TypeIdentifier.int8 }
    package static var arrayType: UInt32 { TypeIdentifier.int8Array }
    package var binary: [UInt8]? { Int64(self).bigEndianBytes }
}

extension Bool: ParameterValue, ParameterElement {
    package var encoded: Parameter { parameter }
    package static var type: UInt32 { TypeIdentifier.bool }
    package static var arrayType: UInt32 { TypeIdentifier.boolArray }
    package var binary: [UInt8]? { [self ? 1 : 0] }
}

extension Data: ParameterValue, ParameterElement {
    package var encoded: Parameter { parameter }
    package static var type: UInt32 { TypeIdentifier.bytea }
    package static var arrayType: UInt32 { TypeIdentifier.byteaArray }
    package var binary: [UInt8]? { Array(self) }
}

extension Optional: ParameterElement where Wrapped: ParameterElement {
    package static var type: UInt32 { Wrapped.type }
    package static var arrayType: UInt32 { Wrapped.arrayType }
    package var binary: [UInt8]? { self?.binary }
    package var hasNUL: Bool { self?.hasNUL == true }
}

extension Array: ParameterValue where Element: ParameterElement {
    package var encoded: Parameter {
        Parameter(
            type: Element.arrayType, bytes: BinaryArray.encode(map(\.binary), type: Element.type),
            hasTextWithNUL: contains(where: \.hasNUL))
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
