import Foundation
import IPAddresses
import NIOCore

extension IPAddress {
    /// Reads the IP address of a socket; nil for a Unix domain socket.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address): self.init(bytes: withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
        case .v6(let address): self.init(bytes: withUnsafeBytes(of: address.address.sin6_addr) { Array($0) })
        case .unixDomainSocket: return nil
        }
    }

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
}
