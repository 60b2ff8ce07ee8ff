/// Predicates for the character sets of RFC 6749 appendix A and RFC 3986.
extension UInt8 {
    /// `VSCHAR = %x20-7E` (RFC 6749 appendix A).
    var isVisibleOrSpace: Bool { (0x20...0x7E).contains(self) }

    /// `NQCHAR = %x21 / %x23-5B / %x5D-7E` (RFC 6749 appendix A), the characters of a scope token.
    var isUnquoted: Bool { self == 0x21 || (0x23...0x5B).contains(self) || (0x5D...0x7E).contains(self) }

    /// `unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"` (RFC 3986 §2.3).
    @_spi(Counterfoil) public var isUnreserved: Bool {
        isLetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "_")
            || self == UInt8(ascii: "~")
    }

    /// `reserved = gen-delims / sub-delims` (RFC 3986 §2.2).
    var isReserved: Bool {
        switch self {
        case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    /// `tchar` (RFC 9110 §5.6.2), the characters of methods, field names and authentication schemes.
    @_spi(Counterfoil) public var isTokenCharacter: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// `ALPHA / DIGIT` (RFC 5234 appendix B.1).
    @_spi(Counterfoil) public var isLetterOrDigit: Bool { isLetter || isDigit }

    /// `ALPHA` (RFC 5234 appendix B.1).
    var isLetter: Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }

    /// `DIGIT` (RFC 5234 appendix B.1).
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// The value of a hexadecimal digit; nil for any other byte.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension StringProtocol {
    /// Returns true if every UTF-8 byte satisfies a predicate.
    ///
    /// The function uses contiguous storage if available, which is faster for tokens of hundreds of bytes.
    func bytesAllSatisfy(_ isAllowed: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isAllowed) } ?? utf8.allSatisfy(isAllowed)
    }
}

extension StringProtocol {
    /// Returns the longest prefix of at most `limit` UTF-8 bytes that does not split a Unicode scalar.
    ///
    /// A limit in characters would not limit the size, because a character can contain any number of scalars.
    @_spi(Counterfoil) public func prefix(bytes limit: Int) -> String {
        var size = 0
        let end = unicodeScalars.firstIndex { scalar in
            size += UTF8.width(scalar)
            return size > limit
        }
        return String(self[..<(end ?? endIndex)])
    }
}
