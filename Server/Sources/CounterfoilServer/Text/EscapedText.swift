/// An untrusted text of a request, written so that a developer can see every character of it.
///
/// Error pages and logs show what a request contained. The sender of a request chooses that text, so this type:
///
/// - keeps visible ASCII characters, and writes every other code point as `\u{…}`, among them spaces, line ends and
///   bidirectional controls; a backslash becomes `\\`, and
/// - cuts the text at a limit, by default ``maximumLength`` characters.
///
/// Unlike ``DisplayName``, it removes nothing: an invisible character is often the error that a developer searches
/// for. The result is plain text, which the renderer must escape in HTML.
package struct EscapedText: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of characters; a longer text is cut and ends in an ellipsis.
    static let maximumLength = 200

    /// The escaped text.
    package let description: String
    /// Whether the text was longer than the limit.
    let isCut: Bool

    package init(_ untrusted: String, limit: Int = maximumLength) {
        var shown = ""
        var length = 0
        // The text without the last escapes, so that the ellipsis fits.
        var fitting = ""
        for scalar in untrusted.unicodeScalars {
            let escaped = Self.escaped(scalar)
            length += escaped.utf8.count
            guard length <= limit else {
                description = fitting + "…"
                isCut = true
                return
            }
            shown += escaped
            if length < limit { fitting = shown }
        }
        description = shown
        isCut = false
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x5C: #"\\"#
        case 0x21...0x7E: String(scalar)
        default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }
}
