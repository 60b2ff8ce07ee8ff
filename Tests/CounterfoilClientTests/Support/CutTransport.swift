import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol

/// A transport whose connection to one URL is cut at given points, one for each request.
final class CutTransport: HTTPTransport {
    /// The point of an exchange at which the connection is cut.
    enum Point: Sendable, CaseIterable {
        /// The client cannot connect, so the server receives nothing.
        case beforeConnecting
        /// The server processes the request, and its response is lost.
        case afterRequest
        /// The server processes the request, and half of its response arrives.
        case withinResponse
        /// The server processes the request, and the client waits for its response in vain.
        case untilTimeout
    }

    private let address: String
    private let cuts = Mutex<[Point]>([])
    private let timeouts = Mutex<[Duration]>([])

    /// Creates a transport that cuts the connection to a URL.
    init(to address: String) { self.address = address }

    /// Cuts the connections of the next requests at these points; the connections after that are sound.
    func cut(_ points: [Point]) { cuts.withLock { $0 = points } }

    /// The time limits of the requests to the URL.
    var limits: [Duration] { timeouts.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let transport = StandardTransport()
        guard request.endpoint.rawValue == address else { return try await transport.send(request) }
        timeouts.withLock { $0.append(request.timeout) }
        let point = cuts.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        let origin = request.endpoint.origin
        switch point {
        case nil: return try await transport.send(request)
        case .beforeConnecting: throw .unreachable(origin: origin, reason: "the network is cut")
        case .afterRequest:
            _ = try await transport.send(request)
            throw .unreachable(origin: origin, reason: "the network is cut")
        case .withinResponse:
            let response = try await transport.send(request)
            return TransportResponse(head: response.head, body: Array(response.body.prefix(response.body.count / 2)))
        case .untilTimeout:
            _ = try await transport.send(request)
            throw .timedOut(origin: origin)
        }
    }
}
