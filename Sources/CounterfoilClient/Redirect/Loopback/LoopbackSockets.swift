import CounterfoilPlatform
import CounterfoilProtocol

/// The listening sockets of one port on 127.0.0.1 and ::1, or on the only address family of the device.
///
/// Both addresses are bound, so that no other program can listen on the same port of one of them and receive
/// the callback (RFC 8252 §7.3). The sockets do not allow other sockets to bind the same address. No name is
/// resolved: a resolver leaves out addresses of a family that only loopback has.
struct LoopbackSockets {
    let port: Int
    let descriptors: [Int32]

    private enum Family {
        case ipv4
        case ipv6
    }

    /// Binds the first free port that the redirect URI lists, or any free port if it lists none.
    static func open(for uri: LoopbackRedirectURI) throws(SignInError) -> LoopbackSockets {
        // A random port that is free in one address family may be in use in the other, so try up to 16 ports.
        let candidates = uri.ports.isEmpty ? Array(repeating: 0, count: 16) : uri.ports
        var reason = "no port is free"
        for candidate in candidates {
            guard let port = UInt16(exactly: candidate) else {
                reason = "\(candidate) is not a port"
                continue
            }
            do throws(SystemCallError) {
                return try open(port, for: uri.host)
            } catch {
                switch error.code {
                case EADDRINUSE: reason = port == 0 ? reason : "another program uses port \(port)"
                case EACCES, EPERM: reason = "this user may not open port \(port)"
                case _ where error.isMissingFamily: reason = "this device has no address \(uri.host.rawValue)"
                default: reason = "\(error)"
                }
            }
        }
        throw .cannotListen(reason)
    }

    private static func open(_ candidate: UInt16, for host: LoopbackHost) throws(SystemCallError) -> LoopbackSockets {
        let (first, second): (Family, Family) = host == .ipv6 ? (.ipv6, .ipv4) : (.ipv4, .ipv6)
        let socket: (descriptor: Int32, port: UInt16)
        do throws(SystemCallError) { socket = try listen(first, candidate) } catch {
            guard host == .localhost, error.isMissingFamily else { throw error }
            let only = try listen(second, candidate)
            return LoopbackSockets(port: Int(only.port), descriptors: [only.descriptor])
        }
        do throws(SystemCallError) {
            let other = try listen(second, socket.port)
            return LoopbackSockets(port: Int(socket.port), descriptors: [socket.descriptor, other.descriptor])
        } catch {
            guard error.isMissingFamily else {
                _ = close(socket.descriptor)
                throw error
            }
            return LoopbackSockets(port: Int(socket.port), descriptors: [socket.descriptor])
        }
    }

    private static func listen(
        _ family: Family, _ port: UInt16
    ) throws(SystemCallError) -> (descriptor: Int32, port: UInt16) {
        switch family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
            let descriptor = try listen(AF_INET, at: &address)
            return (descriptor, UInt16(bigEndian: address.sin_port))
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            let descriptor = try listen(AF_INET6, at: &address)
            return (descriptor, UInt16(bigEndian: address.sin6_port))
        }
    }

    /// Listens at an address, and replaces the address with the one in use, which contains the port.
    private static func listen<Address>(
        _ family: Int32, at address: inout Address
    ) throws(SystemCallError) -> Int32 {
        let descriptor = try Socket.make(family)
        var yes: Int32 = 1
        let flag = socklen_t(MemoryLayout<Int32>.size)
        #if os(Linux)
            // On Linux, SO_REUSEADDR only allows binding a port while old connections are in TIME_WAIT. It
            // does not allow two programs to listen on the port at once.
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, flag)
        #endif
        if family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), Int32(IPV6_V6ONLY), &yes, flag) }
        var size = socklen_t(MemoryLayout<Address>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard bind(descriptor, pointer, size) == 0, systemListen(descriptor, Int32(Socket.backlog)) == 0 else {
                    return Int32(-1)
                }
                return getsockname(descriptor, pointer, &size)
            }
        }
        guard status == 0 else {
            let failure = SystemCallError.latest
            _ = close(descriptor)
            throw failure
        }
        return descriptor
    }
}

extension SystemCallError {
    /// Whether the device has no address of a family, not even on loopback.
    fileprivate var isMissingFamily: Bool { [EADDRNOTAVAIL, EAFNOSUPPORT, EPROTONOSUPPORT].contains(code) }
}
