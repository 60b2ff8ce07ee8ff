/// A network in CIDR notation, such as `10.0.0.0/8`, or a single address.
package struct IPNetwork: Sendable, Hashable {
    private let base: [UInt8]
    private let bits: Int

    /// Parses a network; nil for an invalid text, or for an address with bits set after the prefix.
    package init?(_ text: String) {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = halves.first, let address = IPAddress(first) else { return nil }
        base = address.bytes
        guard halves.count == 2 else {
            bits = base.count * 8
            return
        }
        guard let number = Int(halves[1]), (0...base.count * 8).contains(number), halves[1].allSatisfy(\.isNumber)
        else {
            return nil
        }
        bits = number
        guard Self.masked(base, to: bits) == base else { return nil }
    }

    /// Whether the network is larger than any that one organization has: it is shorter than 8 bits for IPv4, or than 16
    /// bits for IPv6, and not one of private or link-local addresses (RFC 4193 §3.1, RFC 4291 §2.5.6).
    package var isBoundless: Bool {
        guard base.count == 16 else { return bits < 8 }
        let isPrivate = bits >= 7 && base[0] & 0xFE == 0xFC
        let isLinkLocal = bits >= 10 && base[0] == 0xFE && base[1] & 0xC0 == 0x80
        return bits < 16 && !isPrivate && !isLinkLocal
    }

    package func contains(_ address: IPAddress) -> Bool {
        address.bytes.count == base.count && Self.masked(address.bytes, to: bits) == base
    }

    private static func masked(_ bytes: [UInt8], to bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let left = min(max(bits - index * 8, 0), 8)
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> left)
        }
    }
}
