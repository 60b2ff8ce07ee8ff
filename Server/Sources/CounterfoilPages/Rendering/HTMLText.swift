import CounterfoilServer
import Mustache

/// The content type of the templates, which escapes values by bytes.
///
/// The escaping of the template engine compares grapheme clusters, so it would miss a `<` before a combining
/// character.
struct HTMLText: MustacheContentType {
    /// Escapes `&`, `<`, `>`, `"` and `'`.
    func escapeText(_ text: String) -> String {
        guard HTMLEscaping.isNeeded(in: text) else { return text }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 16)
        HTMLEscaping.append(text, to: &escaped)
        return String(decoding: escaped, as: UTF8.self)
    }
}
