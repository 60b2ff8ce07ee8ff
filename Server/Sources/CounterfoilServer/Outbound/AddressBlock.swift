import Foundation

/// A block of IP addresses with the same prefix (RFC 4632 §3.1, RFC 4291 §2.3).
struct AddressBlock: Sendable, Hashable, CustomStringConvertible {
    /// The first address of the block: 4 bytes for IPv4 or 16 bytes for IPv6, in network byte order.
    let base: [UInt8]
    /// The length of the prefix in bits.
    let bits: Int

    /// Creates an IPv4 block from the first bytes of its addresses and the length of the prefix in bits.
    init(v4 prefix: [UInt8], _ bits: Int) {
        self.init(base: prefix + [UInt8](repeating: 0, count: 4 - prefix.count), bits: bits)
    }

    /// Creates an IPv6 block from the first bytes of its addresses and the length of the prefix in bits.
    init(v6 prefix: [UInt8], _ bits: Int) {
        self.init(base: prefix + [UInt8](repeating: 0, count: 16 - prefix.count), bits: bits)
    }

    /// Creates the block that contains an address and has a prefix of the given length in bits.
    init(base: [UInt8], bits: Int) {
        self.bits = bits
        self.base = Self.masked(base, to: bits)
    }

    /// The block in CIDR notation, such as `10.0.0.0/8`.
    var description: String { "\(Self.text(base))/\(bits)" }

    /// Returns true if the block contains an address, given as 4 or 16 bytes in network byte order.
    func covers(_ address: [UInt8]) -> Bool {
        address.count == base.count && Self.masked(address, to: bits) == base
    }

    /// Returns true if the block contains every address of another block.
    func covers(_ other: AddressBlock) -> Bool { bits <= other.bits && covers(other.base) }

    private static func masked(_ bytes: [UInt8], to bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            byte & UInt8(truncatingIfNeeded: 0xFF00 >> min(max(bits - index * 8, 0), 8))
        }
    }

    /// Formats an address in dotted decimal notation or in the short notation of IPv6 (RFC 5952).
    private static func text(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
