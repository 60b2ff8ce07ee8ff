import Foundation
import NIOCore

/// The system calls for a listening socket that are missing in NIO.
enum ListeningDescriptor {
    /// Returns a new TCP socket that is bound to an address, and closed in programs that this one starts.
    ///
    /// - Throws: `IOError` with the error of the system, or an error that the host has no address.
    static func bound(to host: String, port: Int) throws -> Int32 {
        let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
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

    /// Returns true if a connection waits to be accepted.
    static func hasWaiting(_ descriptor: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) > 0
    }
}
