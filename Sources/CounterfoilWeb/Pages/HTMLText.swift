import Mustache

/// Escapes text for the content and the quoted attributes of HTML.
///
/// The one that comes with the template engine compares whole characters: a quotation mark followed by a combining accent
/// is another character there and stays as it is, while a browser reads code points and ends the attribute. This one
/// reads bytes.
struct HTMLText: MustacheContentType {
    /// The text with the five characters of HTML's syntax written as references.
    func escapeText(_ text: String) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): escaped += "&amp;".utf8
            case UInt8(ascii: "<"): escaped += "&lt;".utf8
            case UInt8(ascii: ">"): escaped += "&gt;".utf8
            case UInt8(ascii: "\""): escaped += "&quot;".utf8
            case UInt8(ascii: "'"): escaped += "&#39;".utf8
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
