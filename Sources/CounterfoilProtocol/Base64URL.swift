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
        var isCanonical = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { bytes, written in
            var buffer: UInt32 = 0
            var bits: UInt32 = 0
            for character in text {
                guard let value = value(character) else {
                    isCanonical = false
                    return
                }
                buffer = (buffer << 6) | UInt32(value)
                bits += 6
                if bits >= 8 {
                    bits -= 8
                    bytes[written] = UInt8(truncatingIfNeeded: buffer >> bits)
                    written += 1
                }
            }
            isCanonical = bits < 6 && buffer & ((1 << bits) - 1) == 0
        }
        return isCanonical ? bytes : nil
    }

    /// The characters for the values 0 to 63.
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// The value of a character; nil if it is not in the alphabet.
    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
