/// HTML that the server has written, with every untrusted text in it escaped.
///
/// It is the only value that a template prints unescaped, with three braces, and only this module can create
/// it.
public struct SafeHTML: Sendable, Hashable, CustomStringConvertible {
    /// The HTML.
    public let description: String

    init(unsafeTrusting html: [UInt8]) {
        description = String(decoding: html, as: UTF8.self)
    }

    /// Appends text to HTML and escapes the five special characters.
    ///
    /// It compares bytes: in Swift a quotation mark with a combining accent is another character, but in a
    /// browser it ends the attribute.
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
