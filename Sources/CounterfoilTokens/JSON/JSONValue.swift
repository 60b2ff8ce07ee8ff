/// A JSON value parsed by ``JSONReader``.
///
/// RFC 8259 §3. The members of an object are distinct, and strings are valid Unicode. Integers of up to 64 bits
/// keep their precision; larger integers become `number`.
@_spi(Counterfoil) public enum JSONValue: Sendable, Hashable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case null

    /// The string; nil for any other value.
    public var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The strings of an array, without its other values; nil if the value is no array.
    public var texts: [String]? { if case .array(let values) = self { values.compactMap(\.text) } else { nil } }
}
