import Foundation

/// The private networks that outbound requests may reach in addition to public addresses.
///
/// Developers choose the hosts of outbound requests. Any developer can therefore make the server connect to
/// any address of an allowed network. By default no private network is allowed, and the owner must name each
/// exception. An allowed network must lie within one private or shared range or within loopback.
public struct OutboundNetworks: Sendable, Hashable {
    /// The reason why a text does not name a network that can be allowed.
    public struct Refusal: Error, Hashable, CustomStringConvertible {
        /// The reason and the remedy, with the rejected text.
        public let description: String
    }

    /// No private networks, so that outbound requests reach only public addresses; the default.
    public static let none = OutboundNetworks(allowed: [])
    /// Only 127.0.0.1, on which servers of tests listen.
    package static let loopbackOfTests = OutboundNetworks(allowed: [AddressBlock(v4: [127, 0, 0, 1], 32)])

    private let allowed: [AddressBlock]

    private init(allowed: [AddressBlock]) { self.allowed = allowed }

    /// Parses networks in CIDR notation, such as `10.0.0.0/8` and `fd00::/8`; each may be named only once.
    public init(_ texts: [String]) throws(Refusal) {
        var allowed: [AddressBlock] = []
        for text in texts {
            let network = try Self.network(text)
            guard !allowed.contains(network) else { throw Refusal(description: "\(text) is named twice") }
            allowed.append(network)
        }
        self.allowed = allowed
    }

    /// Checks the IP addresses of a host name, each of which must be public or in an allowed network.
    ///
    /// If only some addresses of a host name may be reached, the server uses none of them, because the cause is an
    /// attack or a misconfiguration.
    package func judge(_ addresses: [[UInt8]]) -> OutboundVerdict {
        guard !addresses.isEmpty else { return .unknownHost }
        let reachable = addresses.filter(reaches)
        guard reachable.count == addresses.count else { return .notAllowed }
        return .reachable(reachable.map(ReachableAddress.init(bytes:)))
    }

    private func reaches(_ address: [UInt8]) -> Bool {
        if PublicAddress(address) != nil { return true }
        return allowed.contains { $0.covers(address) } && !Self.never.contains { $0.covers(address) }
    }

    private static func network(_ text: String) throws(Refusal) -> AddressBlock {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let address = halves.first.flatMap(bytes(of:)) else {
            throw Refusal(description: "\(text) is not a network, such as 10.0.0.0/8 or fd00::/8")
        }
        let width = address.count * 8
        guard halves.count == 2 else {
            throw Refusal(description: "\(text) has no prefix length; write \(text)/\(width) for one address")
        }
        let number = halves[1]
        guard number.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            number == "0" || !number.hasPrefix("0"), let bits = Int(number), bits <= width
        else { throw Refusal(description: "the prefix length of \(text) must be a number from 0 to \(width)") }
        let network = AddressBlock(base: address, bits: bits)
        if mapped.covers(network) {
            let inner = AddressBlock(base: Array(address.suffix(4)), bits: bits - mapped.bits)
            throw Refusal(description: "\(text) is an IPv4 network in IPv6 notation; write \(inner)")
        }
        guard network.base == address else {
            throw Refusal(description: "\(text) has bits set after its prefix; write \(network)")
        }
        if never.contains(where: { $0.covers(network) }) {
            throw Refusal(
                description: "\(text) cannot be allowed: link-local addresses and the metadata services of cloud "
                    + "providers are never reached")
        }
        guard openable.contains(where: { $0.covers(network) }) else {
            throw Refusal(
                description: "\(text) does not lie within one of the ranges that can be allowed: "
                    + "\(openable.map(\.description).joined(separator: ", ")). Public addresses need no option")
        }
        return network
    }

    private static func bytes(of text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET6, text, &bytes) == 1 { return bytes }
        guard inet_pton(AF_INET, text, &bytes) == 1 else { return nil }
        return Array(bytes.prefix(4))
    }

    /// The ranges within which the owner may allow networks.
    ///
    /// An allowed network must lie within one of them. A larger network could include loopback or other ranges
    /// without the owner noticing.
    private static let openable = [
        AddressBlock(v4: [10], 8),  // private (RFC 1918 §3)
        AddressBlock(v4: [172, 16], 12),  // private (RFC 1918 §3)
        AddressBlock(v4: [192, 168], 16),  // private (RFC 1918 §3)
        AddressBlock(v4: [100, 64], 10),  // carrier-grade NAT, also used by overlay networks (RFC 6598 §7)
        AddressBlock(v4: [198, 18], 15),  // benchmarking (RFC 2544 §C.2.2)
        AddressBlock(v4: [127], 8),  // loopback (RFC 1122 §3.2.1.3)
        AddressBlock(v6: [0xFC], 7),  // unique local (RFC 4193 §3.1)
        AddressBlock(v6: [UInt8](repeating: 0, count: 15) + [1], 128),  // loopback (RFC 4291 §2.5.3)
    ]

    /// The addresses that are always refused, even if they lie in an allowed network.
    ///
    /// Metadata services at such addresses send secrets, such as cloud credentials, to any program on the machine.
    private static let never = [
        AddressBlock(v4: [169, 254], 16),  // link-local (RFC 3927 §2.1), metadata services of most clouds
        AddressBlock(v6: [0xFE, 0x80], 10),  // link-local (RFC 4291 §2.5.6)
        AddressBlock(v4: [100, 100, 100, 200], 32),  // metadata service of Alibaba Cloud
        // The IPv6 address of the metadata service of AWS.
        AddressBlock(v6: [0xFD, 0x00, 0x0E, 0xC2] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54], 128),
        // The IPv6 address of the metadata service of Google Cloud.
        AddressBlock(v6: [0xFD, 0x20, 0x00, 0xCE] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54], 128),
    ]

    private static let mapped = AddressBlock(v6: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF], 96)
}

/// The verdict on the IP addresses of a host that a developer has chosen.
package enum OutboundVerdict: Sendable, Hashable {
    /// The server may connect to any of these addresses.
    case reachable([ReachableAddress])
    /// The host name does not resolve to any address.
    case unknownHost
    /// At least one address of the host is neither public nor in an allowed network, so none may be used.
    case notAllowed
}

/// An address to which an outbound connection is allowed; only ``OutboundNetworks`` can create one.
package struct ReachableAddress: Sendable, Hashable, CustomStringConvertible {
    private let bytes: [UInt8]

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

    /// The address in text form, without brackets if it is an IPv6 address.
    package var description: String { PublicAddress.text(bytes) }
}
