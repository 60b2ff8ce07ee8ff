@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// A local website that receives form posts at `/callback`, as a relying party does (OAuth 2.0 Form Post
/// Response Mode §2).
final class RelyingPartyPage: Sendable {
    /// A received request.
    struct Request: Sendable {
        let head: String
        let body: String
    }

    /// An error: the kernel has no free port.
    struct NoPort: Error {}

    private let received = Mutex<[Request]>([])
    private let listener: Int32
    private let port: Int

    /// The redirect URI.
    var address: String { "http://127.0.0.1:\(port)/callback" }

    /// The received requests, in order.
    var requests: [Request] { received.withLock { $0 } }

    /// Runs the website until `body` returns.
    static func run(_ body: (RelyingPartyPage) async throws -> Void) async throws {
        let page = try RelyingPartyPage()
        // The shutdown ends the blocking `accept` of the thread.
        defer { shutdown(page.listener, Int32(SHUT_RDWR)) }
        Thread.detachNewThread { page.accept() }
        try await body(page)
    }

    private init() throws {
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let listener = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 16) == 0
                    ? getsockname(listener, address, &size) : -1
            }
        }
        guard result == 0 else {
            close(listener)
            throw NoPort()
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Accepts connections, each on its own thread, because a browser opens connections before it sends
    /// anything.
    private func accept() {
        while true {
            #if canImport(Darwin)
                let connection = Darwin.accept(listener, nil, nil)
            #else
                let connection = Glibc.accept(listener, nil, nil)
            #endif
            guard connection >= 0 else { break }
            Thread.detachNewThread {
                self.serve(connection)
                close(connection)
            }
        }
        close(listener)
    }

    private func serve(_ connection: Int32) {
        var bytes = Data()
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(connection, &piece, piece.count, 0), count > 0 {
            bytes += piece[..<count]
            guard let request = Self.request(in: bytes) else { continue }
            if request.head.contains(" /callback ") { received.withLock { $0.append(request) } }
            let answer = Array(Self.answer.utf8)
            _ = write(connection, answer, answer.count)
            return
        }
    }

    /// Returns the request once it is complete.
    private static func request(in bytes: Data) -> Request? {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let length = head.firstMatch(of: /(?i)\r\ncontent-length: (\d+)/).flatMap { Int($0.output.1) } ?? 0
        let body = bytes[end.upperBound...]
        return body.count < length ? nil : Request(head: head, body: String(decoding: body, as: UTF8.self))
    }

    private static let answer = {
        let page = "<!doctype html><html lang=\"en\"><title>Prints</title><h1>Welcome to Prints</h1>"
        return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(page.utf8.count)\r\n"
            + "Connection: close\r\n\r\n" + page
    }()
}
