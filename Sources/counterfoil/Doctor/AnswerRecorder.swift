import CounterfoilClient
import CounterfoilTokens
import Synchronization

/// A transport that records the responses of one endpoint.
final class AnswerRecorder: HTTPTransport {
    private let transport: any HTTPTransport
    private let address: String
    private let timeout: Duration
    private let answers = Mutex<[TransportResponse]>([])

    init(recording address: String, over transport: any HTTPTransport, timeout: Duration) {
        self.address = address
        self.transport = transport
        self.timeout = timeout
    }

    /// The last response of the endpoint.
    var last: TransportResponse? { answers.withLock { $0.last } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        var request = request
        request.timeout = min(request.timeout, timeout)
        let response = try await transport.send(request)
        if request.endpoint.rawValue == address { answers.withLock { $0.append(response) } }
        return response
    }
}
