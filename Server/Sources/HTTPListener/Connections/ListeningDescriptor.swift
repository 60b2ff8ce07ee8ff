import Foundation
import NIOCore

/// The system calls for a listening socket that are missing in NIO.
enum ListeningDescriptor {
    /// Returns new TCP sockets that are bound to the addresses of a host, and closed in programs that this one starts.
    ///
    /// A name can have several addresses: `localhost` has `127.0.0.1` and `::1`. An address that this machine does not
    /// have is left out, unless it has none of them.
    ///
    /// - Throws: `IOError` with the error of the system, or an error that the host has no address.
    static func bound(to host: String, port: Int) throws -> [Int32] {
        try bound(to: addresses(of: host, port: port), port: port) { try bound(to: $0, port: $1, of: host) }
    }

    /// Returns a socket for each of several addresses, bound by `bind` to one port.
    static func bound(
        to addresses: [SocketAddress], port: Int, bind: (SocketAddress, Int) throws -> Int32
    ) throws -> [Int32] {
        // With port 0, another program can have the port of the first address at a further one.
        var attemptsLeft = port == 0 ? 5 : 1
        while true {
            attemptsLeft -= 1
            do {
                return try boundOnce(to: addresses, port: port, bind: bind)
            } catch let error as IOError where error.errnoCode == EADDRINUSE && attemptsLeft > 0 {
                continue
            }
        }
    }

    private static func boundOnce(
        to addresses: [SocketAddress], port: Int, bind: (SocketAddress, Int) throws -> Int32
    ) throws -> [Int32] {
        var (port, descriptors, missing) = (port, [Int32](), nil as IOError?)
        do {
            for address in addresses {
                do {
                    let descriptor = try bind(address, port)
                    descriptors.append(descriptor)
                    // With port 0, the system chooses one for the first address, which the others get, too.
                    if port == 0 { port = Self.port(of: descriptor) }
                } catch let error as IOError where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode) {
                    missing = missing ?? error
                }
            }
            if let missing, descriptors.isEmpty { throw missing }
        } catch {
            for descriptor in descriptors { close(descriptor) }
            throw error
        }
        return descriptors
    }

    /// Returns the distinct addresses of a host, in the order of the resolver.
    private static func addresses(of host: String, port: Int) throws -> [SocketAddress] {
        var addresses = [try SocketAddress.makeAddressResolvingHost(host, port: port)]
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return addresses }
        defer { freeaddrinfo(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            guard let raw = UnsafeRawPointer(entry.ai_addr) else { continue }
            var address: SocketAddress
            switch entry.ai_family {
            case AF_INET: address = SocketAddress(raw.load(as: sockaddr_in.self))
            case AF_INET6: address = SocketAddress(raw.load(as: sockaddr_in6.self))
            default: continue
            }
            address.port = port
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }

    /// Returns the port of a bound socket.
    private static func port(of descriptor: Int32) -> Int {
        var address = [UInt8](repeating: 0, count: 128)
        var length = socklen_t(address.count)
        let isKnown = address.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) == 0 }
        }
        // The port has the same place in the addresses of both families, in network byte order.
        return isKnown ? Int(address[2]) << 8 | Int(address[3]) : 0
    }

    /// Returns a socket that is bound to an address with a port.
    static func bound(to address: SocketAddress, port: Int, of host: String) throws -> Int32 {
        var address = address
        address.port = port
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let family = if case .v6 = address { AF_INET6 } else { AF_INET }
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard address.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) == 0 else {
            let error = IOError(errnoCode: errno, reason: "bind to \(host) port \(port)")
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Changes the maximum number of connections that wait to be accepted.
    static func setBacklog(of descriptor: Int32, to backlog: Int32) { _ = listen(descriptor, backlog) }

    /// Makes the kernel ignore requests for new connections, while the handshakes that have begun are completed.
    ///
    /// A client repeats an ignored request after a second, and then learns that the port is closed. Other systems than
    /// Linux have no such filter; there this does nothing.
    static func ignoreNewConnections(at descriptor: Int32) {
        #if os(Linux)
            // Packets with the flag SYN (RFC 9293 §3.1) are dropped, and all others are kept whole.
            let instructions = [
                FilterInstruction(code: 0x30, whenTrue: 0, whenFalse: 0, value: 13),  // load the byte with the flags
                FilterInstruction(code: 0x45, whenTrue: 0, whenFalse: 1, value: 0x02),  // has it SYN?
                FilterInstruction(code: 0x06, whenTrue: 0, whenFalse: 0, value: 0),
                FilterInstruction(code: 0x06, whenTrue: 0, whenFalse: 0, value: .max),
            ]
            instructions.withUnsafeBufferPointer { buffer in
                var program = FilterProgram(count: UInt16(buffer.count), instructions: buffer.baseAddress)
                setsockopt(
                    descriptor, SOL_SOCKET, attachFilter, &program, socklen_t(MemoryLayout<FilterProgram>.size))
            }
        #endif
    }

    #if os(Linux)
        /// The socket option `SO_ATTACH_FILTER`.
        private static let attachFilter: Int32 = 26

        /// The structure `sock_filter`.
        private struct FilterInstruction {
            let code: UInt16
            let whenTrue: UInt8
            let whenFalse: UInt8
            let value: UInt32
        }

        /// The structure `sock_fprog`.
        private struct FilterProgram {
            let count: UInt16
            let instructions: UnsafePointer<FilterInstruction>?
        }
    #endif

    /// Returns true if a connection waits to be accepted.
    static func hasWaiting(_ descriptor: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) > 0
    }
}
