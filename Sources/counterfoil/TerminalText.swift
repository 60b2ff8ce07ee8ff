import CounterfoilClient

/// The text of a server that a terminal shows while it arrives, without the characters that control a terminal.
///
/// A character whose bytes arrive in several parts is shown when it is complete. Bytes that are not UTF-8 become
/// U+FFFD.
struct TerminalText {
    /// The bytes of a character that is not complete.
    private var beginning: [UInt8] = []
    private var isInLine = false

    /// Returns what the terminal shows of a part of the text: everything but control characters, with line feeds and
    /// tabs.
    mutating func shown(_ part: [UInt8]) -> [UInt8] {
        let bytes = beginning + part
        let complete = bytes.dropLast(Self.countOfIncompleteCharacter(at: bytes))
        beginning = Array(bytes[complete.endIndex...])
        return shown(complete)
    }

    /// Returns the rest of the text, and a line feed if the last line has none.
    mutating func end() -> [UInt8] {
        defer { (beginning, isInLine) = ([], false) }
        return shown(beginning[...]) + (isInLine ? [UInt8(ascii: "\n")] : [])
    }

    private mutating func shown(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var shown = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars
        where scalar == "\n" || scalar == "\t" || !scalar.controlsText {
            shown.unicodeScalars.append(scalar)
        }
        if let last = shown.utf8.last { isInLine = last != UInt8(ascii: "\n") }
        return Array(shown.utf8)
    }

    /// Returns the number of bytes at the end that begin a character and do not end it (RFC 3629 §3).
    private static func countOfIncompleteCharacter(at bytes: [UInt8]) -> Int {
        for (index, byte) in bytes.suffix(3).reversed().enumerated() {
            let length =
                switch byte {
                case 0xC2...0xDF: 2
                case 0xE0...0xEF: 3
                case 0xF0...0xF4: 4
                case 0x80...0xBF: 0
                default: 1
                }
            guard length == 0 else { return length > index + 1 ? index + 1 : 0 }
        }
        return 0
    }
}
