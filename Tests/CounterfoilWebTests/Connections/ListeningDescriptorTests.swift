import Foundation
import NIOCore
import Testing

@testable import CounterfoilWeb

/// The sockets of a place to listen.
struct ListeningDescriptorTests {
    /// Returns the addresses of sockets, which are then closed.
    private static func addresses(_ descriptors: [Int32]) -> [(host: String?, port: Int)] {
        descriptors.map { descriptor in
            defer { close(descriptor) }
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let family = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(descriptor, $0, &length)
                    return Int32($0.pointee.sa_family)
                }
            }
            return withUnsafePointer(to: &address) { pointer in
                if family == AF_INET {
                    return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                        let address = SocketAddress($0.pointee)
                        return (address.ipAddress, address.port ?? 0)
                    }
                }
                return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    let address = SocketAddress($0.pointee)
                    return (address.ipAddress, address.port ?? 0)
                }
            }
        }
    }

    @Test func `a name is bound at each of its addresses, at one port`() throws {
        let bound = Self.addresses(try ListeningDescriptor.bound(to: "localhost", port: 0))
        #expect(Set(bound.map(\.port)).count == 1)
        #expect(bound.allSatisfy { $0.port > 0 })
        let hosts = bound.map(\.host)
        #expect(Set(hosts).count == hosts.count)
        #expect(Set(hosts).isSubset(of: ["127.0.0.1", "::1"]))
        // A machine may not have an IPv6 address, or none of this name.
        let entries = (try? String(contentsOfFile: "/etc/hosts", encoding: .utf8))?.split(separator: "\n") ?? []
        for host in ["127.0.0.1", "::1"] {
            let isNamed = entries.contains { line in
                let words = line.split(whereSeparator: \.isWhitespace)
                return words.first == host[...] && words.dropFirst().contains("localhost")
            }
            guard isNamed, let alone = try? ListeningDescriptor.bound(to: host, port: 0) else { continue }
            _ = Self.addresses(alone)
            #expect(hosts.contains(host))
        }
    }

    @Test func `an address is bound once`() throws {
        #expect(Self.addresses(try ListeningDescriptor.bound(to: "127.0.0.1", port: 0)).map(\.host) == ["127.0.0.1"])
    }
}
