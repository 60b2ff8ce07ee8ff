/// The base64url encoding without padding.
///
/// RFC 4648 §5, with the padding omitted as in RFC 7515 §2. The speed matters, because signing or verifying a
/// token uses this encoding. The implementation works on contiguous buffers: a generic loop over a sequence
/// would take longer than computing a signature.
public enum Base64URL {
    /// Encodes bytes as text without padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable(encode(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(encode(buffer:))
    }

    /// Decodes text; returns nil if it is not the canonical encoding of some bytes.
    ///
    /// Padding, white space, the characters `+` and `/` of plain base64 and non-zero trailing bits are
    /// rejected. Two different texts therefore never decode to the same bytes.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: text.utf8)
    }

    /// Decodes ASCII bytes by the rules of ``decode(_:)``.
    public static func decode(utf8 text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decode(buffer:)) ?? Array(text).withUnsafeBufferPointer(decode(buffer:))
    }

    private static func encode(buffer bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
            let alphabet = Self.alphabet.utf8Start
            func character(_ group: UInt32, _ shift: UInt32) -> UInt8 { alphabet[Int(group >> shift & 0x3F)] }
            var (read, written) = (0, 0)
            while read + 3 <= bytes.count {
                let group = UInt32(bytes[read]) << 16 | UInt32(bytes[read + 1]) << 8 | UInt32(bytes[read + 2])
                text[written] = character(group, 18)
                text[written + 1] = character(group, 12)
                text[written + 2] = character(group, 6)
                text[written + 3] = character(group, 0)
                (read, written) = (read + 3, written + 4)
            }
            // The remaining 8 or 16 bits become 2 or 3 characters.
            guard read < bytes.count else { return written }
            let last = read + 1 < bytes.count ? UInt32(bytes[read + 1]) << 8 : 0
            for shift: UInt32 in [18, 12, 6].prefix(bytes.count - read + 1) {
                text[written] = character(UInt32(bytes[read]) << 16 | last, shift)
                written += 1
            }
            return written
        }
    }

    private static func decode(buffer text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        // Four characters stand for three bytes, so a single character is left over in no valid text.
        guard text.count % 4 != 1 else { return nil }
        var isCanonical = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { bytes, written in
            values.withUnsafeBufferPointer { values in
                var seen: UInt8 = 0
                func group(_ characters: Range<Int>) -> UInt32 {
                    characters.reduce(0) { group, index in
                        let value = values[Int(text[index])]
                        seen |= value
                        return group << 6 | UInt32(value & 0x3F)
                    }
                }
                var read = 0
                while read + 4 <= text.count {
                    let group = group(read..<read + 4)
                    bytes[written] = UInt8(truncatingIfNeeded: group >> 16)
                    bytes[written + 1] = UInt8(truncatingIfNeeded: group >> 8)
                    bytes[written + 2] = UInt8(truncatingIfNeeded: group)
                    (read, written) = (read + 4, written + 3)
                }
                // The last 2 or 3 characters stand for 1 or 2 bytes and 4 or 2 further bits, which must be 0.
                let last = group(read..<text.count)
                let unused: UInt32 = text.count - read == 2 ? 4 : 2
                if text.count - read == 3 {
                    bytes[written] = UInt8(truncatingIfNeeded: last >> 10)
                    written += 1
                }
                if read < text.count {
                    bytes[written] = UInt8(truncatingIfNeeded: last >> unused)
                    written += 1
                }
                isCanonical = seen <= 0x3F && last & (1 << unused - 1) == 0
            }
        }
        return isCanonical ? bytes : nil
    }

    /// The characters for the values 0 to 63.
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// The values of the 256 possible characters; 0xFF for those outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for value in 0..<64 { values[Int(alphabet.utf8Start[value])] = UInt8(value) }
        return values
    }()
}
