import TestSupport

extension SeededGenerator {
    /// The seeds of every property test; each test generates ``rounds`` values for each seed.
    static let seeds = Array(UInt64(1)...16)
    static let rounds = 64

    mutating func bytes(_ counts: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: counts, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    /// Returns a random string of characters from an alphabet.
    mutating func text(_ counts: ClosedRange<Int>, of alphabet: String) -> String {
        let characters = Array(alphabet)
        return String(
            (0..<Int.random(in: counts, using: &self)).compactMap { _ in characters.randomElement(using: &self) })
    }

    /// Returns a random Unicode string, with a high proportion of characters that need escaping.
    mutating func anyText(_ counts: ClosedRange<Int>) -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: counts, using: &self) {
            let pick = UInt32.random(in: 0...3, using: &self)
            let value: UInt32 =
                switch pick {
                case 0: UInt32.random(in: 0...0x7F, using: &self)
                case 1: "%&=+ #\"'<>\\;?/\r\n\0".unicodeScalars.randomElement(using: &self)?.value ?? 0x25
                case 2: UInt32.random(in: 0x80...0xD7FF, using: &self)
                default: UInt32.random(in: 0x1_0000...0x10_FFFF, using: &self)
                }
            if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    mutating func maybe<Value>(_ make: (inout SeededGenerator) throws -> Value?) rethrows -> Value? {
        Bool.random(using: &self) ? try make(&self) : nil
    }
}

/// The character sets of the standards.
enum Alphabet {
    /// `unreserved` (RFC 3986 §2.3).
    static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    /// `VSCHAR` (RFC 6749 appendix A).
    static let visible = String(decoding: UInt8(0x20)...0x7E, as: UTF8.self)
    /// `NQCHAR` (RFC 6749 appendix A).
    static let scope = String(decoding: (UInt8(0x21)...0x7E).filter { $0 != 0x22 && $0 != 0x5C }, as: UTF8.self)
}
