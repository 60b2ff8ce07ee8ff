@_spi(Counterfoil) import CounterfoilProtocol

/// A strict reader of the CBOR of authenticators.
///
/// WebAuthn §2.4 asks for the CTAP2 canonical CBOR encoding form (CTAP 2.1 §8) without duplicate keys. The reader
/// requires all of it but the order of the keys: the order changes no value, the bytes are stored and hashed as they
/// were received, and software authenticators exist that write keys in another order.
///
/// The reader also refuses floating-point numbers and `undefined`. That is a restriction of this module, not of the
/// form: nothing that authenticators send needs them.
///
/// A declared length reserves no memory, so the work is limited by the number of bytes.
package struct CBORReader {
    /// The maximum depth of nested arrays and maps (CTAP 2.1 §8).
    package static let depthLimit = 4

    private let bytes: [UInt8]
    /// The index of the first byte that was not read.
    private(set) var position: Int

    /// Creates a reader that begins at an index.
    init(_ bytes: [UInt8], from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// Returns the value of bytes that consist of one item.
    package static func value(
        of bytes: [UInt8], depthLimit: Int = Self.depthLimit
    ) throws(CBORFault) -> CBORValue {
        var reader = CBORReader(bytes)
        let value = try reader.item(depth: depthLimit)
        guard reader.position == bytes.count else { throw .trailingBytes }
        return value
    }

    /// Reads the next item, whose arrays and maps are nested at most `depth` levels deep.
    mutating func item(depth: Int = Self.depthLimit) throws(CBORFault) -> CBORValue {
        guard let initial = take(1).first else { throw .truncated }
        let (type, information) = (initial >> 5, initial & 0x1F)
        if type == 7 { return try simple(information) }
        let argument = try argument(information)
        switch type {
        case 0: return .unsigned(argument)
        case 1: return .negative(argument)
        case 2: return .bytes(Array(try string(argument)))
        case 3:
            guard let text = String(validUTF8: try string(argument)) else { throw .invalidText }
            return .text(text)
        case 4: return .array(try elements(argument, depth: depth))
        case 5: return .map(try members(argument, depth: depth))
        default: throw .unsupportedType
        }
    }

    /// Returns up to `count` of the next bytes, and consumes them.
    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let taken = bytes[position...].prefix(count)
        position = taken.endIndex
        return taken
    }

    private func simple(_ information: UInt8) throws(CBORFault) -> CBORValue {
        switch information {
        case 20: return .boolean(false)
        case 21: return .boolean(true)
        case 22: return .null
        case 31: throw .indefiniteLength
        default: throw .unsupportedType
        }
    }

    /// Reads the argument of an item: an integer, or the length of what follows (RFC 8949 §3).
    private mutating func argument(_ information: UInt8) throws(CBORFault) -> UInt64 {
        guard information >= 24 else { return UInt64(information) }
        guard information < 28 else { throw information == 31 ? .indefiniteLength : .unsupportedType }
        let count = 1 << Int(information - 24)
        let encoded = take(count)
        guard encoded.count == count else { throw .truncated }
        let argument = encoded.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // One byte holds what does not fit into the initial byte, and more bytes what does not fit into half of them.
        guard count == 1 ? argument >= 24 : argument >> UInt64(count * 4) > 0 else { throw .longerThanNeeded }
        return argument
    }

    private mutating func string(_ length: UInt64) throws(CBORFault) -> ArraySlice<UInt8> {
        guard let length = Int(exactly: length), length <= bytes.count - position else { throw .truncated }
        return take(length)
    }

    private mutating func elements(_ count: UInt64, depth: Int) throws(CBORFault) -> [CBORValue] {
        guard depth > 0 else { throw .tooDeep }
        var elements: [CBORValue] = []
        var left = count
        while left > 0 {
            elements.append(try item(depth: depth - 1))
            left -= 1
        }
        return elements
    }

    private mutating func members(_ count: UInt64, depth: Int) throws(CBORFault) -> [CBORValue: CBORValue] {
        guard depth > 0 else { throw .tooDeep }
        var members: [CBORValue: CBORValue] = [:]
        var left = count
        while left > 0 {
            let key = try item(depth: 0)
            switch key {
            case .unsigned, .negative, .text: break
            default: throw .unexpectedKey
            }
            guard members.updateValue(try item(depth: depth - 1), forKey: key) == nil else { throw .duplicateKey }
            left -= 1
        }
        return members
    }
}
