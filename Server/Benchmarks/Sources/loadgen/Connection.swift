import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A response of the server.
struct Response {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    /// The value of a header field, by its name in lower case.
    subscript(field: String) -> String? {
        fields.first { $0.name == field }?.value
    }

    /// The values of all `Set-Cookie` fields.
    var cookies: [String] { fields.filter { $0.name == "set-cookie" }.map(\.value) }
}

/// One HTTP/1.1 connection that is kept alive, with blocking calls.
final class Connection {
    enum Fault: Error {
        case system(String, Int32)
        case closed
        case malformed(String)
    }

    private let port: UInt16
    private var descriptor: Int32 = -1
    private var received: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 16384)

    init(port: UInt16) {
        self.port = port
    }

    deinit {
        close()
    }

    /// Sends a request and reads its response.
    ///
    /// If the request fails on a reused connection, it is retried once on a new one, because the server may
    /// have closed the idle connection.
    func send(_ request: [UInt8]) throws -> Response {
        let isFresh = descriptor < 0
        do {
            return try exchange(request)
        } catch {
            close()
            guard !isFresh else { throw error }
            return try exchange(request)
        }
    }

    private func exchange(_ request: [UInt8]) throws -> Response {
        if descriptor < 0 { try open() }
        try write(request)
        let response = try read()
        if response["connection"]?.lowercased() == "close" { close() }
        return response
    }

    private func open() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Fault.system("socket", errno) }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Fault.system("connect", errno) }
        received.removeAll(keepingCapacity: true)
    }

    private func close() {
        guard descriptor >= 0 else { return }
        shutdown(descriptor, Int32(SHUT_RDWR))
        Foundation.close(descriptor)
        descriptor = -1
    }

    private func write(_ request: [UInt8]) throws {
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Fault.system("send", errno) }
            sent += count
        }
    }

    private func read() throws -> Response {
        var end = endOfHead()
        while end == nil {
            try receive()
            end = endOfHead()
        }
        let headLength = end ?? 0
        let lines = String(decoding: received[..<headLength], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw Fault.malformed(lines[0])
        }
        let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (line[..<colon].lowercased(), value)
        }
        received.removeFirst(headLength + 4)

        let length = fields.first { $0.name == "content-length" }.flatMap { Int($0.value) }
        let isChunked = fields.contains { $0.name == "transfer-encoding" && $0.value.lowercased() == "chunked" }
        let body = isChunked ? try readChunks() : try take(length ?? 0)
        return Response(status: status, fields: fields, body: body)
    }

    private func endOfHead() -> Int? {
        guard received.count >= 4 else { return nil }
        return (0...(received.count - 4)).first {
            received[$0] == 13 && received[$0 + 1] == 10 && received[$0 + 2] == 13 && received[$0 + 3] == 10
        }
    }

    private func readChunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let size = try takeLine().split(separator: ";").first.flatMap { Int($0, radix: 16) }
            guard let size else { throw Fault.malformed("a chunk without its size") }
            guard size > 0 else {
                while try !takeLine().isEmpty {}
                return body
            }
            body += try take(size)
            _ = try takeLine()
        }
    }

    private func takeLine() throws -> String {
        while true {
            if let feed = received.firstIndex(of: 10) {
                let line = String(decoding: received[..<feed], as: UTF8.self)
                received.removeFirst(feed + 1)
                return line.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            try receive()
        }
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while received.count < count { try receive() }
        let taken = Array(received[..<count])
        received.removeFirst(count)
        return taken
    }

    private func receive() throws {
        let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count != 0 else { throw Fault.closed }
        guard count > 0 else { throw Fault.system("recv", errno) }
        received += chunk[..<count]
    }
}
