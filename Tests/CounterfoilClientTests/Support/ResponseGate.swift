@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport

/// A TCP proxy in front of a local server that delays, holds or cuts what the server sends.
final class ResponseGate: Sendable {
    /// The point at which a connection is cut.
    enum Cut: Sendable {
        /// The request does not reach the server.
        case beforeRequest
        /// So many bytes of the response reach the client.
        case afterBytes(Int)
        /// The whole response reaches the client.
        case afterResponse
    }

    private struct State {
        var isHeld = false
        var heldBytes = 0
        var delay: UInt32 = 0
        var cut: Cut?
        var hasDropped = false
    }

    /// The origin at which clients reach the server through the gate.
    let origin: String
    private let listener: ListeningSocket
    private let server: UInt16
    private let state = Mutex(State())

    /// Starts to listen in front of a server at a local port.
    init(to server: UInt16) throws {
        let listener = try ListeningSocket()
        self.listener = listener
        self.server = server
        origin = "http://127.0.0.1:\(listener.port)"
        let descriptor = listener.handle.fileDescriptor
        Thread.detachNewThread { [weak self] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                guard let self else {
                    close(client)
                    return
                }
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    /// Stops to listen.
    func stop() { shutdown(listener.handle.fileDescriptor, Int32(SHUT_RDWR)) }

    /// Holds everything that the server sends from now on.
    func hold() { state.withLock { ($0.isHeld, $0.heldBytes) = (true, 0) } }

    /// Sends on what was held.
    func release() { state.withLock { $0.isHeld = false } }

    /// Waits until a response is held.
    func holdsResponse() async throws {
        _ = try await Waiting.until("a response of the server") { state.withLock { $0.heldBytes > 0 } ? true : nil }
    }

    /// Delays everything that the server sends by a time in microseconds.
    func delay(_ time: UInt32) { state.withLock { $0.delay = time } }

    /// Cuts the next connection at a point.
    func cut(_ point: Cut) { state.withLock { ($0.cut, $0.hasDropped) = (point, false) } }

    /// Whether a part of a response was not sent on since the last cut was chosen.
    var hasDropped: Bool { state.withLock { $0.hasDropped } }

    private func serve(_ client: Int32) {
        defer { close(client) }
        let target = socket(AF_INET, streamSocket, 0)
        defer { close(target) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(server).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(target, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return }
        let cut = state.withLock { state in
            defer { state.cut = nil }
            return state.cut
        }
        join(client, target, cut)
        shutdown(client, Int32(SHUT_WR))
    }

    /// Passes on what both sides send, until one of them closes or the connection is cut.
    private func join(_ client: Int32, _ target: Int32, _ cut: Cut?) {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        var held: [UInt8] = []
        while true {
            var sources = [client, target].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&sources, 2, held.isEmpty ? -1 : 2) >= 0 || errno == EINTR else { return }
            if sources[0].revents != 0 {
                let count = recv(client, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                if case .beforeRequest = cut { return }
                Self.write(buffer[..<count], to: target)
            }
            if sources[1].revents != 0 {
                let count = recv(target, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                held += buffer[..<count]
                state.withLock { $0.heldBytes += count }
            }
            let (isHeld, delay) = state.withLock { ($0.isHeld, $0.delay) }
            guard !held.isEmpty, !isHeld else { continue }
            if delay > 0 { usleep(delay) }
            switch cut {
            case .afterBytes(let count):
                Self.write(held.prefix(count), to: client)
                if held.count > count { state.withLock { $0.hasDropped = true } }
                return
            case .afterResponse:
                Self.write(held[...], to: client)
                return
            case .beforeRequest, nil: Self.write(held[...], to: client)
            }
            held = []
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
