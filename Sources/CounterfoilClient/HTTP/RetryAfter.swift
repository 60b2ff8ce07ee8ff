import CounterfoilPlatform
import HTTPTypes

extension TransportResponse {
    /// The delay in `Retry-After`, at most one day; nil if the field is missing or invalid (RFC 9110 §10.2.3).
    var retryAfter: Duration? {
        guard let text = head.headerFields[.retryAfter] else { return nil }
        let seconds: Double
        if let number = Int(text) {
            seconds = Double(number)
        } else if let date = HTTPDate.parse(text) {
            seconds = date.timeIntervalSinceNow.rounded(.up)
        } else {
            return nil
        }
        return .seconds(min(max(seconds, 0), 86400))
    }

    /// Throws if the response is a redirect, or shows that the server is not available.
    func requireAnswer(of endpoint: EndpointURL) throws(SignInError) {
        switch statusCode {
        case 300..<400: throw .unsafe(.redirected(origin: endpoint.origin))
        case 429, 500..<600:
            throw .unavailable(.status(statusCode, origin: endpoint.origin, retryAfter: retryAfter))
        default: break
        }
    }
}

extension HTTPTransport {
    /// Sends a request; throws if there is no response, or none that the server has meant as an answer.
    func answer(to request: TransportRequest) async throws(SignInError) -> TransportResponse {
        let response: TransportResponse
        do { response = try await send(request) } catch { throw SignInError(error) }
        try response.requireAnswer(of: request.endpoint)
        return response
    }
}
