/// The host and the port that a request names, in `Host`, in an absolute target or in `:authority`.
enum Authority {
    /// Returns whether a text is `uri-host [ ":" port ]` with a host that is not empty (RFC 9110 §7.2 and §4.2.1).
    ///
    /// User information is no part of it (RFC 9110 §4.2.4, RFC 9113 §8.3.1).
    static func isValid(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        if bytes.first == UInt8(ascii: "[") {
            // RFC 3986 §3.2.2: an IP literal.
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), end > 1 else { return false }
            return bytes[1..<end].allSatisfy { isHex($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
                && isPort(bytes[(end + 1)...])
        }
        let host = bytes.prefix { $0 != UInt8(ascii: ":") }
        return !host.isEmpty && isName(host) && isPort(bytes.dropFirst(host.count))
    }

    /// Returns whether bytes are a `reg-name`, of which an IPv4 address is a special case (RFC 3986 §3.2.2).
    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst(), let low = rest.popFirst(), isHex(high), isHex(low) else {
                    return false
                }
            } else if !isLetterOrDigit(byte), !"-._~!$&'()*+,;=".utf8.contains(byte) {
                return false
            }
        }
        return true
    }

    /// Returns whether bytes are empty, or a colon and a port, which can be empty (RFC 3986 §3.2.3).
    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let colon = bytes.first else { return true }
        let digits = bytes.dropFirst()
        return colon == UInt8(ascii: ":") && digits.count <= 5 && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
