/// A JSON value as ``JSONReader`` reads it.
///
/// RFC 8259 §3. The members of an object are distinct, strings are valid Unicode, and an integer stays an integer.
package enum JSONValue: Sendable, Hashable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case null
}
