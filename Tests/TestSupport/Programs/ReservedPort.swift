import Foundation

/// A local port that the kernel reserves while this value exists.
///
/// A socket is bound to it and does not listen; a server that reuses addresses can still listen on it.
package final class ReservedPort: Sendable {
    package let number: Int
    private let descriptor: Int32

    /// An error: the kernel has no free port.
    package struct NoneLeft: Error {}

    package init() throws {
        descriptor = socket(AF_INET, streamSocket, 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 ? getsockname(descriptor, address, &size) : -1
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        // `deinit` closes the descriptor, also after this error.
        guard result == 0 else { throw NoneLeft() }
    }

    deinit { close(descriptor) }
}
