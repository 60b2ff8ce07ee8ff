import CounterfoilServer
import CounterfoilStore
import Foundation
import NIOCore

/// An IP address.
///
/// An IPv4-mapped IPv6 address is converted to its IPv4 address.
struct IPAddress: Sendable, Hashable {
    /// The address in network byte order: 4 bytes for IPv4, 16 bytes for IPv6.
    let bytes: [UInt8]
    /// The key for limits per source: the IPv4 address, or the /64 prefix of the IPv6 address.
    ///
    /// One subscriber usually has a whole /64. `CountedSource` finds the networks of 56 and 48 bits in it.
    let place: String

    /// Parses an address; nil for an invalid text.
    init?(_ text: some StringProtocol) {
        guard let bytes = CountedSource.bytes(ofAddress: String(text)) else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads the IP address of a socket; nil for a Unix domain socket.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address):
            self.init(bytes: withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
        case .v6(let address):
            self.init(bytes: CountedSource.unmapped(withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }))
        case .unixDomainSocket:
            return nil
        }
    }

    /// The peer of a Unix socket, which has no address: no network contains it, and no text denotes it.
    static let unixSocket = IPAddress(bytes: [], place: CountedSource.unixSocket)

    /// Reads the address of the peer of a channel; nil if a peer with an address has gone already.
    ///
    /// - Parameter isUnixSocket: Whether the listener is a Unix socket. The peer cannot tell: the address of a TCP peer
    ///   that has gone is missing, too.
    init?(ofPeerOf channel: any Channel, isUnixSocket: Bool) {
        if isUnixSocket {
            self = .unixSocket
        } else if let address = channel.remoteAddress {
            self.init(address)
        } else {
            return nil
        }
    }

    var isLoopback: Bool { bytes.count == 4 ? bytes.first == 127 : place == "::1" }

    private init(bytes: [UInt8]) { self.init(bytes: bytes, place: CountedSource.name(of: bytes)) }

    private init(bytes: [UInt8], place: String) {
        self.bytes = bytes
        self.place = place
    }
}

/// A network in CIDR notation, such as `10.0.0.0/8`, or a single address.
struct IPNetwork: Sendable, Hashable {
    private let base: [UInt8]
    private let bits: Int

    /// Parses a network; nil for an invalid text, or for an address with bits set after the prefix.
    init?(_ text: String) {
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
    var isBoundless: Bool {
        guard base.count == 16 else { return bits < 8 }
        let isPrivate = bits >= 7 && base[0] & 0xFE == 0xFC
        let isLinkLocal = bits >= 10 && base[0] == 0xFE && base[1] & 0xC0 == 0x80
        return bits < 16 && !isPrivate && !isLinkLocal
    }

    func contains(_ address: IPAddress) -> Bool {
        address.bytes.count == base.count && Self.masked(address.bytes, to: bits) == base
    }

    private static func masked(_ bytes: [UInt8], to bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let left = min(max(bits - index * 8, 0), 8)
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> left)
        }
    }
}
