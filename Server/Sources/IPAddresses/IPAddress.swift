import Foundation

/// An IP address.
///
/// An IPv4-mapped IPv6 address is converted to its IPv4 address.
package struct IPAddress: Sendable, Hashable {
    /// The address in network byte order: 4 bytes for IPv4, 16 bytes for IPv6.
    package let bytes: [UInt8]
    /// The key for limits per source: the IPv4 address, or the IPv6 network of 64 bits, such as `2001:db8:2:1::/64`.
    ///
    /// One subscriber usually has a whole network of 64 bits.
    package let source: String

    /// The peer of a Unix socket, which has no address: no network contains it, and no text denotes it.
    package static let unixSocket = IPAddress(bytes: [], source: "unix")

    /// Parses an address; nil for an invalid text.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes)
        } else if inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: Array(bytes.prefix(4)))
        } else {
            return nil
        }
    }

    /// Creates an address from 4 or 16 bytes in network byte order.
    package init(bytes: [UInt8]) {
        let isMapped =
            bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10...11].allSatisfy { $0 == 0xFF }
        let bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        self.init(bytes: bytes, source: Self.source(of: bytes))
    }

    private init(bytes: [UInt8], source: String) {
        self.bytes = bytes
        self.source = source
    }

    package var isLoopback: Bool { bytes.count == 4 ? bytes.first == 127 : source == Self.loopback }

    private static let loopback = "::1"

    private static func source(of bytes: [UInt8]) -> String {
        guard bytes.count == 16 else { return bytes.map { String($0) }.joined(separator: ".") }
        if bytes.prefix(15).allSatisfy({ $0 == 0 }), bytes[15] == 1 { return loopback }
        let groups = stride(from: 0, to: 8, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
        return groups.joined(separator: ":") + "::/64"
    }
}
