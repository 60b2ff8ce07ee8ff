import Foundation
import NIOCore
import Testing

@testable import HTTPListener

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

    @Test(arguments: [1, 4])
    func `another port is chosen if a further address has that of the first one in use`(attempts: Int) throws {
        let addresses = try ["127.0.0.1", "127.0.0.2"].map { try SocketAddress(ipAddress: $0, port: 0) }
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        // Another program takes the port of the first address before the second one is bound.
        let bound = try ListeningDescriptor.bound(to: addresses, port: 0) { address, port in
            if port != 0, taken.count < attempts {
                taken += try ListeningDescriptor.bound(to: "127.0.0.2", port: port)
                #expect(listen(taken[taken.count - 1], 1) == 0)
            }
            return try ListeningDescriptor.bound(to: address, port: port, of: "example")
        }
        let places = Self.addresses(bound)
        #expect(places.map(\.host) == ["127.0.0.1", "127.0.0.2"])
        #expect(places.first?.port == places.last?.port)
        #expect(taken.count == attempts)
    }

    @Test func `a port that is asked for is tried once`() throws {
        let addresses = try ["127.0.0.1", "127.0.0.2"].map { try SocketAddress(ipAddress: $0, port: 0) }
        var attempts = 0
        #expect(throws: IOError.self) {
            try ListeningDescriptor.bound(to: addresses, port: 8080) { _, _ in
                attempts += 1
                throw IOError(errnoCode: EADDRINUSE, reason: "bind")
            }
        }
        #expect(attempts == 1)
    }

    @Test func `an address is bound once`() throws {
        #expect(Self.addresses(try ListeningDescriptor.bound(to: "127.0.0.1", port: 0)).map(\.host) == ["127.0.0.1"])
    }
}
