/// A JSON value parsed by ``JSONReader``.
///
/// RFC 8259 §3. The members of an object are distinct, strings are valid Unicode, and integers keep their precision.
package enum JSONValue: Sendable, Hashable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case null
}
