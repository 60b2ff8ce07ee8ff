@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// An HTTP proxy on a local port, which opens every tunnel to one local server, whatever host the client names.
final class ConnectProxy: Sendable {
    /// The port on which the proxy listens.
    let port: Int
    private let listener: Int32
    private let server: Int
    private let authorization: String?
    private let seen = Mutex<[String]>([])

    struct CannotListen: Error {}

    /// Starts to listen; without `authorization`, the proxy requires no `Proxy-Authorization`.
    init(to server: Int, authorization: String? = nil) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) + listen(listener, 16) + getsockname(listener, pointer, &size)
            }
        }
        guard status == 0 else { throw CannotListen() }
        port = Int(UInt16(bigEndian: address.sin_port))
        self.listener = listener
        self.server = server
        self.authorization = authorization
        Thread.detachNewThread { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread.detachNewThread { [self] in serve(client) }
            }
            close(listener)
        }
    }

    /// The request lines and header fields of all requests.
    var requests: [String] { seen.withLock { $0 } }

    /// Stops to listen.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve(_ client: Int32) {
        defer { close(client) }
        var head = ""
        var byte: UInt8 = 0
        while !head.hasSuffix("\r\n\r\n") {
            guard recv(client, &byte, 1, 0) == 1 else { return }
            head.unicodeScalars.append(Unicode.Scalar(byte))
        }
        seen.withLock { $0.append(head) }
        guard authorization.map({ head.lowercased().contains("proxy-authorization: \($0.lowercased())\r\n") }) ?? true
        else {
            return Self.write(
                Array("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n".utf8), to: client)
        }
        guard head.hasPrefix("CONNECT ") else {
            return Self.write(Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8), to: client)
        }
        let target = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(target) }
        var address = Self.loopback(port: server)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(target, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            return Self.write(Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8), to: client)
        }
        Self.write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), to: client)
        Self.join(client, target)
    }

    /// Passes on what both sides send, until one of them closes.
    private static func join(_ first: Int32, _ second: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            var sources = [first, second].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&sources, 2, -1) > 0 || errno == EINTR else { return }
            for (index, other) in [(0, second), (1, first)] where sources[index].revents != 0 {
                let count = recv(sources[index].fd, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                write(Array(buffer[..<count]), to: other)
            }
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return address
    }
}
