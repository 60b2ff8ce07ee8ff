import CoreFoundation
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// The service manager that has started this process, in the protocol of systemd (`sd_notify`).
///
/// Each message is a datagram to the socket that the environment variable `NOTIFY_SOCKET` names. Without it, nothing is
/// sent. The variables are removed from the environment, so that no child process sends messages in place of this one.
final class ServiceManager: Sendable {
    private let path: String?
    /// The time between two signs of life, half of what the service manager waits for; nil if it expects none.
    let watchdogInterval: Duration?
    /// The last state in words, which returns after a reload.
    private let status = Mutex("Starting")

    /// Reads the environment of this process, and removes the variables from it.
    static func ofThisProcess() -> ServiceManager {
        let environment = ProcessInfo.processInfo.environment
        let manager = ServiceManager(environment: environment, process: getpid())
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
        return manager
    }

    init(environment: [String: String], process: Int32) {
        path = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isForThis = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogInterval = path != nil && isForThis && limit > 0 ? .microseconds(limit / 2) : nil
    }

    /// Reports that the server listens.
    func ready(_ status: String) {
        self.status.withLock { $0 = status }
        send("READY=1", status)
    }

    /// Reports a state in words.
    func report(_ status: String) {
        self.status.withLock { $0 = status }
        send(nil, status)
    }

    /// Reports that the server reloads its files, calls a function, and reports that the server is ready again.
    ///
    /// The former state in words returns, for instance that the server waits for its database.
    func reloading<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
        send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)", "Reloading")
        defer { send("READY=1", status.withLock(\.self)) }
        return try await body()
    }

    /// Reports that the server stops.
    func stopping(_ status: String) { send("STOPPING=1", status) }

    /// Sends a sign of life.
    func watchdog() { send("WATCHDOG=1", nil, waiting: false) }

    /// Sends a message; a service manager that does not read delays this by a second at most.
    private func send(_ state: String?, _ status: String?, waiting: Bool = true) {
        guard let path else { return }
        let lines = [state, status.map { "STATUS=\($0)" }].compactMap { $0 }
        let descriptor = socket(AF_UNIX, Self.datagrams, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { return }
        // The name of an abstract socket has no zero at its end.
        let size = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(size + bytes.count + (isAbstract ? 0 : 1))
        let message = Array(lines.joined(separator: "\n").utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, message, message.count, waiting ? 0 : Int32(MSG_DONTWAIT), $0, length)
            }
        }
    }

    private static var datagrams: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_DGRAM.rawValue)
        #else
            SOCK_DGRAM
        #endif
    }
}
