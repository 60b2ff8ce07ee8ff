/// A text in lines of at most 76 ASCII characters (RFC 2045 §6.7).
enum QuotedPrintable {
    private static let lineLimit = 76
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Encodes a text whose lines end with a line feed, or with a carriage return and a line feed.
    static func encode(_ text: String) -> [UInt8] {
        var encoded: [UInt8] = []
        for line in text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false) {
            append(Array(line.utf8), to: &encoded)
            encoded += [0x0D, 0x0A]
        }
        return encoded
    }

    private static func append(_ line: [UInt8], to encoded: inout [UInt8]) {
        var length = 0
        for (index, byte) in line.enumerated() {
            let isLast = index == line.count - 1
            var unit = unit(byte, isFirst: length == 0, isLast: isLast)
            // One place stays free for the `=` of a soft line break.
            if length + unit.count > lineLimit - 1 {
                encoded += [UInt8(ascii: "="), 0x0D, 0x0A]
                length = 0
                unit = Self.unit(byte, isFirst: true, isLast: isLast)
            }
            encoded += unit
            length += unit.count
        }
    }

    private static func unit(_ byte: UInt8, isFirst: Bool, isLast: Bool) -> [UInt8] {
        let isPlain =
            switch byte {
            case UInt8(ascii: "="): false
            // White space at the end of a line can get lost.
            case UInt8(ascii: " "), UInt8(ascii: "\t"): !isLast
            // The end of a message is a line with a dot (RFC 5321 §4.5.2).
            case UInt8(ascii: "."): !isFirst
            default: (0x21...0x7E).contains(byte)
            }
        return isPlain ? [byte] : [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
