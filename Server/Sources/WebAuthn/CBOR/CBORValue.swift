/// A value of the subset of CBOR that authenticators use.
///
/// CTAP 2.1 §8, RFC 8949 §3. There are no tags and no values of indefinite length. As a restriction of this module,
/// there are no floating-point numbers and no `undefined` either.
package enum CBORValue: Sendable, Hashable {
    /// An integer from 0 on.
    case unsigned(UInt64)
    /// The integer -1 - n, by n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    /// The members of a map. Their keys are distinct integers or texts.
    case map([CBORValue: CBORValue])
    case boolean(Bool)
    case null

    /// The integer; nil for any other value, and for an integer of more than 64 bits.
    var integer: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let value): Int64(exactly: value).map { -1 - $0 }
        default: nil
        }
    }

    /// The bytes of a byte string; nil for any other value.
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    /// The text of a text string; nil for any other value.
    var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The members of a map; nil for any other value.
    var members: [CBORValue: CBORValue]? { if case .map(let members) = self { members } else { nil } }

    /// The key of a map for a name.
    static func key(_ name: String) -> CBORValue { .text(name) }

    /// The key of a map for a number.
    static func key(_ number: Int64) -> CBORValue {
        number >= 0 ? .unsigned(UInt64(number)) : .negative(UInt64(-1 - number))
    }
}

/// The reason why bytes are not the CBOR of an authenticator.
package enum CBORFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes end within an item.
    case truncated
    /// Bytes follow the item.
    case trailingBytes
    /// A string, array or map of indefinite length.
    case indefiniteLength
    /// An integer or a length that has a shorter encoding.
    case longerThanNeeded
    /// A map with two equal keys.
    case duplicateKey
    /// A key of a map that is neither an integer nor a text.
    case unexpectedKey
    /// Arrays and maps are nested more deeply than allowed (CTAP 2.1 §8).
    case tooDeep
    /// A tag, a floating-point number, `undefined` or an unassigned simple value.
    case unsupportedType
    /// A text that is not UTF-8.
    case invalidText

    /// An explanation that contains no part of the bytes.
    package var description: String {
        switch self {
        case .truncated: "the CBOR item is incomplete"
        case .trailingBytes: "bytes follow the CBOR item"
        case .indefiniteLength: "a CBOR item has no definite length"
        case .longerThanNeeded: "a CBOR integer or length is not encoded in the shortest form"
        case .duplicateKey: "a CBOR map has two equal keys"
        case .unexpectedKey: "a key of a CBOR map is neither an integer nor a text"
        case .tooDeep: "CBOR arrays and maps are nested too deeply"
        case .unsupportedType: "the CBOR item contains a tag, a floating-point number or an unknown simple value"
        case .invalidText: "a CBOR text is not valid UTF-8"
        }
    }
}
