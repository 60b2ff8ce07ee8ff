import Testing
import WebAuthn

/// The CBOR of authenticators (CTAP 2.1 §8, RFC 8949 §3).
struct CBORReaderTests {
    private func fault(_ bytes: [UInt8]) -> CBORFault? {
        do {
            _ = try CBORReader.value(of: bytes)
            return nil
        } catch { return error }
    }

    // RFC 8949 appendix A.
    @Test func `integers, strings, arrays, maps and simple values are read`() throws {
        let examples: [([UInt8], CBORValue)] = [
            ([0x00], .unsigned(0)), ([0x17], .unsigned(23)), ([0x18, 0x18], .unsigned(24)),
            ([0x19, 0x03, 0xE8], .unsigned(1000)), ([0x1A, 0x00, 0x0F, 0x42, 0x40], .unsigned(1_000_000)),
            ([0x1B] + Array(repeating: 0xFF, count: 8), .unsigned(.max)), ([0x20], .negative(0)),
            ([0x38, 0x63], .negative(99)), ([0x39, 0x01, 0x00], .negative(256)),
            ([0x3B] + Array(repeating: 0xFF, count: 8), .negative(.max)), ([0x40], .bytes([])),
            ([0x44, 1, 2, 3, 4], .bytes([1, 2, 3, 4])), ([0x62, 0xC3, 0xBC], .text("ü")), ([0x80], .array([])),
            ([0x82, 0x01, 0x81, 0x02], .array([.unsigned(1), .array([.unsigned(2)])])), ([0xA0], .map([:])),
            ([0xA2, 0x01, 0x02, 0x61, 0x61, 0xF5], .map([.unsigned(1): .unsigned(2), .text("a"): .boolean(true)])),
            ([0xF4], .boolean(false)), ([0xF6], .null),
        ]
        for (bytes, value) in examples {
            #expect(try CBORReader.value(of: bytes) == value)
            #expect(value.encoded == bytes)
        }
    }

    // CTAP 2.1 §8: definite lengths, the shortest form, no tags.
    @Test(arguments: [
        ([], CBORFault.truncated), ([0x18], .truncated), ([0x19, 0x01], .truncated), ([0x42, 0x01], .truncated),
        ([0x5B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
        ([0x5B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
        ([0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
        ([0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
        ([0x82, 0x01], .truncated), ([0xA1, 0x01], .truncated), ([0x00, 0x00], .trailingBytes),
        ([0xA0, 0xA0], .trailingBytes), ([0x5F, 0x41, 0x01, 0xFF], .indefiniteLength),
        ([0x7F, 0xFF], .indefiniteLength), ([0x9F, 0xFF], .indefiniteLength), ([0xBF, 0xFF], .indefiniteLength),
        ([0xFF], .indefiniteLength), ([0x18, 0x17], .longerThanNeeded), ([0x19, 0x00, 0xFF], .longerThanNeeded),
        ([0x1A, 0x00, 0x00, 0xFF, 0xFF], .longerThanNeeded),
        ([0x1B, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF], .longerThanNeeded),
        ([0x38, 0x00], .longerThanNeeded), ([0x58, 0x01, 0x00], .longerThanNeeded),
        ([0x98, 0x00], .longerThanNeeded), ([0xB8, 0x00], .longerThanNeeded),
        ([0xA2, 0x01, 0x00, 0x01, 0x00], .duplicateKey), ([0xA2, 0x61, 0x61, 0x00, 0x61, 0x61, 0x01], .duplicateKey),
        ([0xA1, 0x40, 0x00], .unexpectedKey), ([0xA1, 0xF6, 0x00], .unexpectedKey), ([0xA1, 0x80, 0x00], .tooDeep),
        ([0xC0, 0x00], .unsupportedType), ([0xD8, 0x18, 0x40], .unsupportedType),
        ([0xF9, 0x3C, 0x00], .unsupportedType),
        ([0xFB, 0, 0, 0, 0, 0, 0, 0, 0], .unsupportedType), ([0xF7], .unsupportedType), ([0xE0], .unsupportedType),
        ([0xF8, 0x20], .unsupportedType), ([0x1C], .unsupportedType), ([0x5D], .unsupportedType),
        ([0x61, 0xFF], .invalidText), ([0x62, 0xC0, 0x80], .invalidText),
    ])
    func `a malformed item is refused`(bytes: [UInt8], expected: CBORFault) {
        #expect(fault(bytes) == expected)
    }

    // CTAP 2.1 §8.
    @Test func `four nested arrays or maps are read, and five are refused`() {
        #expect(fault([0x81, 0x81, 0xA1, 0x01, 0x80]) == nil)
        #expect(fault([0x81, 0x81, 0xA1, 0x01, 0x81, 0x80]) == .tooDeep)
        #expect(fault(Array(repeating: 0x81, count: 100_000)) == .tooDeep)
    }
}
