/// A piece of HTML that the server itself has written, in which everything from elsewhere is escaped.
///
/// The one kind of value that a template prints as it is, with three braces; nothing outside this module can make one.
public struct SafeHTML: Sendable, Hashable, CustomStringConvertible {
    /// The HTML.
    public let description: String

    init(unsafeTrusting html: [UInt8]) {
        description = String(decoding: html, as: UTF8.self)
    }

    /// Appends text to HTML, the five characters of its syntax written as references.
    ///
    /// It reads bytes: to Swift a quotation mark with an accent on it is another character, to a browser it is the end of
    /// the attribute.
    static func append(escaping text: String, to html: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): html += "&amp;".utf8
            case UInt8(ascii: "<"): html += "&lt;".utf8
            case UInt8(ascii: ">"): html += "&gt;".utf8
            case UInt8(ascii: "\""): html += "&quot;".utf8
            case UInt8(ascii: "'"): html += "&#39;".utf8
            default: html.append(byte)
            }
        }
    }
}
