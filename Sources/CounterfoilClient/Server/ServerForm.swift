import CounterfoilProtocol
import HTTPTypes

/// A form that goes to an endpoint of an authorization server, other than the token endpoint.
///
/// One meaning for each status, wherever it goes: RFC 6749 §5.2 for refusals, and no redirect is followed.
struct ServerForm: Sendable {
    private let form: FormParameters
    private let headerFields: HTTPFields
    private let prover: Prover?

    init(_ form: FormParameters, headerFields: HTTPFields, prover: Prover? = nil) {
        self.form = form
        self.headerFields = headerFields
        self.prover = prover
    }

    /// Sends it, and gives the body of a success.
    func send(to endpoint: EndpointURL, through transport: any HTTPTransport) async throws(SignInError) -> [UInt8] {
        var fields = headerFields
        fields[.contentType] = "application/x-www-form-urlencoded"
        fields[.accept] = "application/json"
        let message = TransportRequest(endpoint, method: .post, headerFields: fields, body: Array(form.encoded.utf8))
        let response: TransportResponse
        do {
            response =
                if let prover { try await prover.send(message, through: transport) } else {
                    try await transport.send(message)
                }
        } catch { throw SignInError(error) }
        let status = response.statusCode
        switch status {
        case 200..<300:
            // Some servers refuse with a success.
            if case .refusal(let error) = TokenAnswer(parsing: response.body, of: .standard, isRefresh: false) {
                throw SignInError(error)
            }
            return response.body
        case 300..<400: throw .unsafe(.redirected(origin: endpoint.origin))
        case 429, 500..<600:
            throw .unavailable(.status(status, origin: endpoint.origin, retryAfter: response.retryAfter))
        default:
            guard case .refusal(let error) = TokenAnswer(parsing: response.body, of: .standard, isRefresh: false) else {
                throw .unsafe(.tokenResponse(.unreadableRefusal(status)))
            }
            throw SignInError(error)
        }
    }
}
