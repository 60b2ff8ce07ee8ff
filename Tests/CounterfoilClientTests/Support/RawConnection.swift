import Foundation
import TestSupport

/// A connection to a local port that sends exactly the bytes of a test.
struct RawConnection: ~Copyable {
    private let descriptor: Int32

    enum Failure: Error {
        case refused
    }

    init(port: Int, isIPv6: Bool = false) throws {
        if isIPv6 {
            descriptor = socket(AF_INET6, streamSocket, 0)
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(port).bigEndian
            address.sin6_addr = in6addr_loopback
            try Self.connect(descriptor, &address)
        } else {
            descriptor = socket(AF_INET, streamSocket, 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
            try Self.connect(descriptor, &address)
        }
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) throws {
        let size = socklen_t(MemoryLayout<Address>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.connect(descriptor, $0, size) }
        }
        // `deinit` closes the descriptor, also after this error. A second close could hit a socket of another test.
        guard result == 0 else { throw Failure.refused }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads until the peer closes the connection.
    func rest() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// Sends one request and returns the response.
    static func exchange(_ text: String, port: Int, isIPv6: Bool = false) throws -> String {
        let connection = try RawConnection(port: port, isIPv6: isIPv6)
        connection.send(text)
        return connection.rest()
    }

    /// Returns whether a program listens on a port.
    static func isOpen(port: Int, isIPv6: Bool = false) -> Bool {
        guard let connection = try? RawConnection(port: port, isIPv6: isIPv6) else { return false }
        _ = consume connection
        return true
    }
}

extension RawConnection {
    /// A connection that can be stored in a collection.
    final class Shared: Sendable {
        private let connection: RawConnection

        init(port: Int) throws { connection = try RawConnection(port: port) }

        func send(_ text: String) { connection.send(text) }

        /// Reads until the peer closes the connection.
        ///
        /// It uses a separate thread, because the peer may need the threads of Swift tasks.
        func rest() async -> String {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: self.connection.rest()) }
            }
        }
    }

    /// Returns whether a program that asks to share a port can bind it.
    static func canBind(port: Int, isIPv6: Bool) -> Bool {
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, streamSocket, 0)
        defer { close(descriptor) }
        var yes: Int32 = 1
        for option in [SO_REUSEADDR, SO_REUSEPORT] {
            setsockopt(descriptor, SOL_SOCKET, option, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        func bind<Address>(_ address: inout Address) -> Bool {
            let size = socklen_t(MemoryLayout<Address>.size)
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.bind(descriptor, $0, size) == 0 }
            }
        }
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(port).bigEndian
            address.sin6_addr = in6addr_loopback
            return bind(&address) && listen(descriptor, 1) == 0
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return bind(&address) && listen(descriptor, 1) == 0
    }
}
