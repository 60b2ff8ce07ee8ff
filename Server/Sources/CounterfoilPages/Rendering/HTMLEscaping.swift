/// The escaping of text for HTML content and quoted attribute values.
///
/// It works on bytes, not on Swift characters. Swift treats a quotation mark with a combining accent as one
/// character that is not equal to a quotation mark. For a browser, that quotation mark still ends the attribute.
enum HTMLEscaping {
    /// Returns true if text contains one of the characters that are escaped.
    static func isNeeded(in text: String) -> Bool {
        text.utf8.contains { byte in
            switch byte {
            case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
            default: false
            }
        }
    }

    /// Appends text to HTML, with `&`, `<`, `>`, `"` and `'` escaped.
    static func append(_ text: String, to html: inout [UInt8]) {
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
