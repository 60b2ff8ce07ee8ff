import CounterfoilClient
import CounterfoilClientTesting
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The end of a scripted server while clients open connections.
struct ServerEndTests {
    // A client may open connections in advance, without a request. NIO traps if one of them is dropped at the end.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func `a server that ends while clients connect closes their connections`(callerIsCancelled: Bool) async throws {
        for _ in 0..<200 {
            let clients = try await Task {
                try await ScriptedAuthorizationServer.run { server in
                    let port = try #require(server.address.split(separator: ":").last.flatMap { UInt16($0) })
                    let clients = (0..<4).map { _ in Task { Connection.open(upTo: 32, to: port) } }
                    let first = Connection.open(upTo: 4, to: port)
                    #expect(first.count == 4)
                    if callerIsCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                    return clients + [Task { first }]
                }
            }.value
            for client in clients {
                for connection in await client.value { #expect(connection.end() == .closed) }
            }
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [ScriptedAnswer.Delivery.silent, .unfinished, .endless])
    func `a server ends although a response is incomplete`(delivery: ScriptedAnswer.Delivery) async throws {
        var answer = ScriptedAnswer.json("{")
        answer.delivery = delivery
        var script = ServerScript()
        script.interruptions = [Interruption(at: .api, answer)]
        let request = try await ScriptedAuthorizationServer.run(script) { server in
            let request = Task { try await PlainClient(server: server).callAPI(nil) }
            _ = try await server.requests(to: .api, atLeast: 1)
            return request
        }
        await #expect(throws: TransportFailure.self) { try await request.value }
    }
}

/// A TCP connection to a local port that sends nothing.
private struct Connection {
    enum End {
        case closed
        case timedOut
        case received
    }

    private let descriptor: Int32

    /// Opens connections until there are enough or the server refuses one.
    static func open(upTo limit: Int, to port: UInt16) -> [Connection] {
        var connections: [Connection] = []
        while connections.count < limit, let connection = Connection(to: port) { connections.append(connection) }
        return connections
    }

    private init?(to port: UInt16) {
        descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            return nil
        }
    }

    /// Waits until the server closes the connection, for 10 seconds at most, and closes it here too.
    func end() -> End {
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // If the server stops to listen during a handshake, Linux can leave the client connected to nothing. The next
        // segment of the client resets such a connection.
        shutdown(descriptor, Int32(SHUT_WR))
        var byte: UInt8 = 0
        switch recv(descriptor, &byte, 1, 0) {
        case 0: return .closed
        case 1: return .received
        default: return errno == EAGAIN ? .timedOut : .closed
        }
    }
}
