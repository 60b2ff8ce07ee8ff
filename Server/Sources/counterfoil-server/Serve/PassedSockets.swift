import CounterfoilWeb
import Foundation
import HTTPListener

/// The listening sockets that systemd has opened for this process (`sd_listen_fds`).
///
/// They stay open while the process restarts, so no connection is refused meanwhile. Each socket can be taken once.
struct PassedSockets {
    /// An error of the sockets or of an option that names one.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private struct Socket {
        let descriptor: Int32
        let name: String
    }

    /// The descriptor of the first socket.
    private static let first: Int32 = 3
    /// The maximum number of sockets.
    private static let limit: Int32 = 64

    private var sockets: [Socket] = []

    /// Reads the environment of this process, and removes the variables from it.
    static func ofThisProcess() throws(Refusal) -> PassedSockets {
        let environment = ProcessInfo.processInfo.environment
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        return try PassedSockets(environment: environment, process: getpid())
    }

    /// Reads an environment; sockets for another process are ignored.
    init(environment: [String: String], process: Int32) throws(Refusal) {
        guard environment["LISTEN_PID"] == "\(process)", let text = environment["LISTEN_FDS"] else { return }
        guard let count = Int32(text), (0...Self.limit).contains(count) else {
            throw Refusal(description: "LISTEN_FDS must be a number of sockets from 0 to \(Self.limit)")
        }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        for index in 0..<count {
            let descriptor = Self.first + index
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let name = names.count == Int(count) ? String(names[Int(index)]) : "unknown"
            sockets.append(Socket(descriptor: descriptor, name: name))
        }
    }

    /// Takes the sockets with a name; without a name, all that are left.
    mutating func take(_ name: String?) throws(Refusal) -> [ListeningAddress] {
        let taken = sockets.filter { name == nil || $0.name == name }
        guard !taken.isEmpty else {
            let wanted = name.map { "socket named \($0)" } ?? "socket"
            throw Refusal(
                description: "systemd has passed no \(wanted); add a socket unit"
                    + (name.map { " with FileDescriptorName=\($0)" } ?? ""))
        }
        sockets.removeAll { socket in taken.contains { $0.descriptor == socket.descriptor } }
        var addresses: [ListeningAddress] = []
        for socket in taken {
            guard Self.option(SO_ACCEPTCONN, of: socket.descriptor) == 1 else {
                throw Refusal(
                    description: "the socket \(socket.name) of systemd does not listen; use ListenStream= and "
                        + "Accept=no in the socket unit")
            }
            addresses.append(
                .descriptor(
                    socket.descriptor, isUnixSocket: Self.isUnixSocket(socket.descriptor), name: socket.name))
        }
        return addresses
    }

    /// Throws if there are sockets that were not taken.
    ///
    /// They would stay open, and clients that connect to them would wait without an answer.
    func checkThatAllAreTaken() throws(Refusal) {
        guard !sockets.isEmpty else { return }
        let names = Set(sockets.map(\.name)).sorted().joined(separator: ", ")
        throw Refusal(
            description: "systemd has passed sockets that no option names: \(names); name each with --listen "
                + "systemd:NAME or --redirect-listen systemd:NAME, or remove it from the socket unit")
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    private static func isUnixSocket(_ descriptor: Int32) -> Bool {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return result == 0 && address.ss_family == sa_family_t(AF_UNIX)
    }
}
