import CounterfoilPlatform

/// An IPv4 or IPv6 address, parsed from a literal without a resolver.
struct IPAddress: Hashable, Sendable {
    /// The four or sixteen bytes of the address, in network order.
    let bytes: [UInt8]

    /// Parses a literal, with or without the brackets of an IPv6 literal in a URL; nil if it is none.
    init?(_ literal: some StringProtocol) {
        let isBracketed = literal.hasPrefix("[") && literal.hasSuffix("]")
        let text = String(isBracketed ? literal.dropFirst().dropLast() : literal[...])
        var ipv4 = in_addr()
        var ipv6 = in6_addr()
        if !isBracketed, inet_pton(AF_INET, text, &ipv4) == 1 {
            bytes = withUnsafeBytes(of: ipv4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &ipv6) == 1 {
            bytes = withUnsafeBytes(of: ipv6) { Array($0) }
        } else {
            return nil
        }
    }

    /// Whether the address is 127.0.0.0/8 or ::1.
    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
    }
}

/// A range of IP addresses in CIDR notation, such as `10.0.0.0/8` (RFC 4632 §3.1).
struct IPAddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let length: Int

    /// Parses an address with the length of a prefix; nil if it is none.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let base = IPAddress(parts[0]), let length = Int(parts[1]),
            (0...base.bytes.count * 8).contains(length)
        else { return nil }
        (self.base, self.length) = (base, length)
    }

    /// Returns true if an address of the same family has the prefix.
    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        return zip(address.bytes, base.bytes).enumerated().allSatisfy { index, pair in
            let bits = min(max(length - index * 8, 0), 8)
            return (pair.0 ^ pair.1) >> (8 - bits) == 0
        }
    }
}
