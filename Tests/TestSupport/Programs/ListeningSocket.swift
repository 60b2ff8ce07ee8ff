@_spi(Counterfoil) import CounterfoilProtocol
package import Foundation

/// A listening TCP socket of a test, to be passed to a program as systemd does it.
package final class ListeningSocket: Sendable {
    package let port: Int
    private let descriptor: Int32

    /// An error: the socket does not listen.
    package struct Refused: Error {}

    package init() throws {
        descriptor = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 512) == 0
                    ? getsockname(descriptor, address, &size) : -1
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        // `deinit` closes the descriptor, also after this error.
        guard result == 0 else { throw Refused() }
    }

    deinit { close(descriptor) }

    /// The socket, which stays open as long as this value exists.
    package var handle: FileHandle { FileHandle(fileDescriptor: descriptor, closeOnDealloc: false) }
}

/// A socket that receives the messages for a service manager (`NOTIFY_SOCKET`).
package final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    /// Creates a socket at a path.
    package init(at path: String) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard path.utf8.count < room.count else { return false }
            room.copyBytes(from: path.utf8)
            return true
        }
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard fits, result == 0 else { throw ListeningSocket.Refused() }
    }

    deinit { close(descriptor) }

    /// All messages so far, without those of the watchdog, and how many of the watchdog there were.
    package var messages: (states: [String], signs: Int) {
        let all = received.withLock { received in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { break }
                received.append(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
            return received
        }
        return (all.filter { $0 != "WATCHDOG=1" }, all.count { $0 == "WATCHDOG=1" })
    }
}
