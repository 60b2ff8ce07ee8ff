import CounterfoilProtocol
import HTTPTypes

/// A POST request with a form or JSON body to an endpoint of an authorization server other than the token endpoint.
///
/// An example is a revocation request. An error response of any endpoint must have the format of RFC 6749 §5.2. A
/// redirect is not followed.
struct EndpointRequest: Sendable {
    private enum Content: Sendable {
        case form(FormParameters, of: ClientIdentifier, by: ClientAuthentication, at: Issuer)
        case json([UInt8])
    }

    private let content: Content
    private let prover: DPoPProver?

    /// Creates a form request with the client authentication that the client also uses at the token endpoint.
    ///
    /// `prover` adds a DPoP proof; nil sends none.
    init(
        form: FormParameters, of client: ClientIdentifier, by authentication: ClientAuthentication, at issuer: Issuer,
        prover: DPoPProver? = nil
    ) {
        content = .form(form, of: client, by: authentication, at: issuer)
        self.prover = prover
    }

    /// Creates a JSON request without client authentication, such as a dynamic registration.
    init(json: [UInt8]) {
        content = .json(json)
        prover = nil
    }

    /// Sends the request and returns the body of a success response.
    func send(to endpoint: EndpointURL, through transport: any HTTPTransport) async throws(SignInError) -> [UInt8] {
        let response: TransportResponse
        do {
            response =
                if let prover { try await prover.send(request(to: endpoint), through: transport) } else {
                    try await transport.send(request(to: endpoint))
                }
        } catch { throw SignInError(error) }
        let status = response.statusCode
        switch status {
        case 200..<300:
            // Some servers send an error with a success status.
            if case .refusal(let error) = TokenEndpointResponse(parsing: response.body, of: .standard, isRefresh: false)
            {
                throw SignInError(error)
            }
            return response.body
        case 300..<400: throw .unsafe(.redirected(origin: endpoint.origin))
        case 429, 500..<600:
            throw .unavailable(.status(status, origin: endpoint.origin, retryAfter: response.retryAfter))
        default:
            guard
                case .refusal(let error) = TokenEndpointResponse(
                    parsing: response.body, of: .standard, isRefresh: false)
            else {
                throw .unsafe(.tokenResponse(.unreadableRefusal(status)))
            }
            throw SignInError(error)
        }
    }

    /// Creates the HTTP request.
    ///
    /// Each attempt calls this function again, because a server accepts each client assertion only once.
    private func request(to endpoint: EndpointURL) -> TransportRequest {
        var fields: HTTPFields = [.accept: "application/json"]
        let body: [UInt8]
        switch content {
        case .form(var form, let client, let authentication, let issuer):
            fields[.contentType] = "application/x-www-form-urlencoded"
            authentication.apply(to: &form, headerFields: &fields, clientID: client, at: issuer)
            body = Array(form.encoded.utf8)
        case .json(let bytes):
            fields[.contentType] = "application/json"
            body = bytes
        }
        return TransportRequest(endpoint, method: .post, headerFields: fields, body: body)
    }
}
