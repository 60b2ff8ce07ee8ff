/// A public IP address, to which the server may connect even if a developer has chosen the host name.
///
/// Any other address could belong to the server itself or to a machine in its private network. The following
/// addresses are not public:
///
/// - Special-purpose addresses that are not global unicast addresses (RFC 6890).
/// - IPv6 addresses that embed an IPv4 address: 6to4, Teredo and IPv4-mapped addresses. NAT64 addresses are the
///   exception if they have the well-known prefix and embed a public IPv4 address (RFC 6052 §3.1).
package struct PublicAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address in network byte order: 4 bytes for IPv4 or 16 bytes for IPv6.
    package let bytes: [UInt8]

    /// Creates an address from bytes in network byte order; nil if it is not public.
    package init?(_ bytes: [UInt8]) {
        switch bytes.count {
        case 4: guard Self.isPublic4(bytes) else { return nil }
        case 16: guard Self.isPublic6(bytes) else { return nil }
        default: return nil
        }
        self.bytes = bytes
    }

    /// The address in text form, without brackets if it is an IPv6 address.
    package var description: String { Self.text(bytes) }

    /// Formats an address of 4 or 16 bytes; an IPv6 address is not shortened with `::`.
    package static func text(_ bytes: [UInt8]) -> String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2)
            .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    }

    private static func isPublic4(_ bytes: [UInt8]) -> Bool {
        // All addresses from 224.0.0.0 on are multicast, reserved or broadcast addresses.
        bytes[0] < 224 && !special4.contains { $0.covers(bytes) }
    }

    private static func isPublic6(_ bytes: [UInt8]) -> Bool {
        if wellKnownNAT64.covers(bytes) { return isPublic4(Array(bytes[12...])) }
        // RFC 4291 §2.4 and the IANA registry: only 2000::/3 is allocated for global unicast addresses.
        return bytes[0] & 0xE0 == 0x20 && !special6.contains { $0.covers(bytes) }
    }

    private static let special4: [AddressBlock] = [
        AddressBlock(v4: [0], 8),  // this network (RFC 791 §3.2)
        AddressBlock(v4: [10], 8),  // private (RFC 1918 §3)
        AddressBlock(v4: [100, 64], 10),  // carrier-grade NAT (RFC 6598 §7)
        AddressBlock(v4: [127], 8),  // loopback (RFC 1122 §3.2.1.3)
        AddressBlock(v4: [169, 254], 16),  // link-local (RFC 3927 §2.1), metadata services of most clouds
        AddressBlock(v4: [172, 16], 12),  // private (RFC 1918 §3)
        AddressBlock(v4: [192, 0, 0], 24),  // IETF protocol assignments (RFC 6890 §2.1)
        AddressBlock(v4: [192, 0, 2], 24),  // documentation (RFC 5737 §3)
        AddressBlock(v4: [192, 88, 99], 24),  // 6to4 relays (RFC 7526 §4)
        AddressBlock(v4: [192, 168], 16),  // private (RFC 1918 §3)
        AddressBlock(v4: [198, 18], 15),  // benchmarking (RFC 2544 §C.2.2)
        AddressBlock(v4: [198, 51, 100], 24),  // documentation (RFC 5737 §3)
        AddressBlock(v4: [203, 0, 113], 24),  // documentation (RFC 5737 §3)
    ]

    private static let special6: [AddressBlock] = [
        // IETF protocol assignments, including Teredo (RFC 2928 §2, RFC 4380 §2.6).
        AddressBlock(v6: [0x20, 0x01, 0x00], 23),
        AddressBlock(v6: [0x20, 0x01, 0x0D, 0xB8], 32),  // documentation (RFC 3849 §2)
        AddressBlock(v6: [0x20, 0x02], 16),  // 6to4 (RFC 3056 §2)
        AddressBlock(v6: [0x3F, 0xFF, 0x00], 20),  // documentation (RFC 9637 §3)
    ]

    private static let wellKnownNAT64 = AddressBlock(v6: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 96)
}
