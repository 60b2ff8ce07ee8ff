@_spi(Counterfoil) import CounterfoilProtocol
import Testing

@testable import CounterfoilClient

/// Tests of the functions on text and descriptors that take the place of larger libraries.
struct TextTests {
    @Test func `whitespace is removed from both ends only`() {
        for (text, trimmed) in [
            ("", ""), (" \t\r\n ", ""), ("a", "a"), ("  a b\u{A0}", "a b"), ("\r\na\r\n", "a"), ("\u{2003}a", "a"),
        ] {
            #expect(text.trimmingWhitespace() == trimmed)
        }
        #expect("x: y ".dropFirst(2).trimmingWhitespace() == "y")
    }

    @Test func `invalid UTF-8 is no text`() {
        let sequences: [[UInt8]] = [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0xAF], [0xF4, 0x90, 0x80, 0x80]]
        for bytes in sequences { #expect(String(validUTF8: [0x61] + bytes) == nil) }
        // The replacement character itself is valid.
        for text in ["", "aé€😀", "\u{FFFD}", "a\u{0}b"] {
            #expect(String(validUTF8: Array(text.utf8)) == text)
            #expect(String(validUTF8: Array(text.utf8)[...]) == text)
        }
    }
}
