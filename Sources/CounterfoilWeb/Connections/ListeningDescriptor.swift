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
