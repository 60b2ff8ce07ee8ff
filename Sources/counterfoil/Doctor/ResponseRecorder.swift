import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens

/// A transport that records the responses of one endpoint.
final class ResponseRecorder: HTTPTransport {
    private let transport: any HTTPTransport
    private let url: String
    private let timeout: Duration
    private let responses = Mutex<[TransportResponse]>([])

    init(recording url: String, over transport: any HTTPTransport, timeout: Duration) {
        self.url = url
        self.transport = transport
        self.timeout = timeout
    }

    /// The last response of the endpoint; nil if there was none.
    var last: TransportResponse? { responses.withLock { $0.last } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        var request = request
        request.timeout = min(request.timeout, timeout)
        let response = try await transport.send(request)
        if request.endpoint.rawValue == url { responses.withLock { $0.append(response) } }
        return response
    }
}
