/// The base64url encoding without padding, as every OAuth artefact uses it.
///
/// RFC 4648 §5, with the padding left out as RFC 7515 §2 says. Works on bytes only, and on buffers: every token is written
/// and read through here, and a generic loop over a sequence takes longer than a signature.
public enum Base64URL {
    /// Encodes bytes; the text has no padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable(encode(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(encode(buffer:))
    }

    /// Decodes a text, or answers nil when it is not the one canonical encoding of some bytes.
    ///
    /// Padding, white space, characters of plain base64 and non-zero trailing bits are refused, so that two texts never
    /// stand for the same bytes.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: text.utf8)
    }

    /// Decodes the ASCII bytes of a text, with the rules of ``decode(_:)``.
    public static func decode(utf8 text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decode(buffer:)) ?? Array(text).withUnsafeBufferPointer(decode(buffer:))
    }

    private static func encode(buffer bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
            var written = 0
            var buffer: UInt32 = 0
            var bits: UInt32 = 0
            for byte in bytes {
                buffer = (buffer << 8) | UInt32(byte)
                bits += 8
                while bits >= 6 {
                    bits -= 6
                    text[written] = character(UInt8(truncatingIfNeeded: buffer >> bits) & 0x3F)
                    written += 1
                }
            }
            if bits > 0 {
                text[written] = character(UInt8(truncatingIfNeeded: buffer << (6 - bits)) & 0x3F)
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

    /// The character of a value from 0 to 63.
    private static func character(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: value + UInt8(ascii: "A")
        case 26..<52: value - 26 + UInt8(ascii: "a")
        case 52..<62: value - 52 + UInt8(ascii: "0")
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }

    /// The value of a character, or nil when it is not of the alphabet.
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
