import Foundation

/// A text for a header field, in one line.
///
/// Control characters and line separators become spaces, so no text can begin a header field of its own.
package struct HeaderText: Sendable, Hashable {
    package let text: String

    package init(_ text: String) {
        self.text = String(
            String.UnicodeScalarView(text.unicodeScalars.map { Self.breaksLines($0) ? " " : $0 }))
    }

    private static func breaksLines(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The longest ASCII text that is written as it is; longer ones are folded as encoded words.
    private static let longestPlainText = 60
    /// The bytes of an encoded word, whose length is 75 at most (RFC 2047 §2).
    private static let bytesOfWord = 45

    /// The text as unstructured text (RFC 5322 §2.2.1), with encoded words (RFC 2047 §2) where it is not short ASCII.
    package var unstructured: String { isPlain ? text : encodedWords }

    /// The text as the display name of a mailbox (RFC 5322 §3.2.5).
    package var phrase: String {
        guard isPlain else { return encodedWords }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private var isPlain: Bool {
        text.utf8.count <= Self.longestPlainText && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            && !text.contains("=?")
    }

    private var encodedWords: String {
        var words: [[UInt8]] = [[]]
        // A character is never split (RFC 2047 §5).
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if let last = words.last, last.count + bytes.count > Self.bytesOfWord { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?UTF-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }
}
