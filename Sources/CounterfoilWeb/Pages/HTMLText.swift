import Mustache

/// Escapes text for HTML content and quoted attributes.
///
/// The escaping of the template engine compares grapheme clusters. It does not escape a quotation mark with a
/// combining accent, but a browser reads code points and would end the attribute there. This type escapes
/// bytes.
struct HTMLText: MustacheContentType {
    /// Escapes `&`, `<`, `>`, `"` and `'`.
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
