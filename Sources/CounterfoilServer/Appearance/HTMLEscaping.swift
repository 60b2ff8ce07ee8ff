/// The escaping of text for HTML content and quoted attributes.
///
/// It compares bytes: in Swift a quotation mark with a combining accent is another character, but in a
/// browser it ends the attribute.
package enum HTMLEscaping {
    /// Appends text to HTML and escapes `&`, `<`, `>`, `"` and `'`.
    package static func append(_ text: String, to html: inout [UInt8]) {
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
