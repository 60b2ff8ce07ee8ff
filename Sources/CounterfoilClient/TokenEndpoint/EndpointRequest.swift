import CounterfoilProtocol
import HTTPTypes

/// A POST request with a form or JSON body to an endpoint of an authorization server other than the token endpoint.
///
/// An example is a revocation request. An error response of any endpoint must have the format of RFC 6749 §5.2. A
/// redirect is not followed.
struct EndpointRequest: Sendable {
    private enum Content: Sendable {
        case form(FormParameters, of: ClientIdentifier, by: ClientAuthentication, at: AuthorizationServerConfiguration)
        case json([UInt8], bearer: String?)
    }

    private let content: Content
    private let prover: DPoPProver?

    /// Creates a form request with the client authentication that the client also uses at the token endpoint.
    ///
    /// `prover` adds a DPoP proof; nil sends none.
    init(
        form: FormParameters, of client: ClientIdentifier, by authentication: ClientAuthentication,
        at server: AuthorizationServerConfiguration, prover: DPoPProver? = nil
    ) {
        content = .form(form, of: client, by: authentication, at: server)
        self.prover = prover
    }

    /// Creates a JSON request without client authentication, such as a dynamic registration.
    ///
    /// `bearer` is an access token for the endpoint, such as an initial access token (RFC 7591 §3); nil sends none.
    init(json: [UInt8], bearer: String? = nil) {
        content = .json(json, bearer: bearer)
        prover = nil
    }

    /// Sends the request and returns the body of a success response.
    ///
    /// If the client may authenticate by several methods, the function tries the next one after `invalid_client`.
    func send(to endpoint: EndpointURL, through transport: any HTTPTransport) async throws(SignInError) -> [UInt8] {
        guard case .form(_, _, let authentication, let server) = content else {
            return try await send(to: endpoint, by: .none, through: transport)
        }
        let methods = authentication.candidates(at: server)
        for method in methods.dropLast() {
            do throws(SignInError) { return try await send(to: endpoint, by: method, through: transport) } catch {
                guard case .refused(let refusal) = error, refusal.code == .invalidClient else { throw error }
            }
        }
        return try await send(to: endpoint, by: methods.last ?? authentication, through: transport)
    }

    private func send(
        to endpoint: EndpointURL, by method: ClientAuthentication, through transport: any HTTPTransport
    ) async throws(SignInError) -> [UInt8] {
        let exchange = { () async throws(TransportFailure) -> TransportResponse in
            if let prover {
                try await prover.send(try await request(to: endpoint, by: method), through: transport)
            } else {
                try await transport.send(try await request(to: endpoint, by: method))
            }
        }
        let response: TransportResponse
        switch content {
        case .form(_, _, _, let server): response = try await method.send(at: server.issuer, exchange)
        case .json: do { response = try await exchange() } catch { throw SignInError(error) }
        }
        let status = response.statusCode
        let content = TokenEndpointResponse(parsing: response.body, of: .standard, isRefresh: false)
        switch (status, content) {
        // Some servers send an error with a success status.
        case (200..<300, .refusal(let error)): throw SignInError(error)
        case (200..<300, _): return response.body
        case (300..<400, _): throw .unsafe(.redirected(origin: endpoint.origin))
        case (500..<600, .refusal(let error)): throw .unavailable(.error(error, retryAfter: response.retryAfter))
        case (429, _), (500..<600, _):
            throw .unavailable(.status(status, origin: endpoint.origin, retryAfter: response.retryAfter))
        case (_, .refusal(let error)): throw SignInError(error)
        default: throw .unsafe(.tokenResponse(.unreadableRefusal(status)))
        }
    }

    /// Creates the HTTP request.
    ///
    /// Each attempt calls this function again, because a server accepts each client assertion only once.
    private func request(
        to endpoint: EndpointURL, by method: ClientAuthentication
    ) async throws(TransportFailure) -> TransportRequest {
        var fields: HTTPFields = [.accept: "application/json"]
        let body: [UInt8]
        switch content {
        case .form(var form, let client, _, let server):
            fields[.contentType] = "application/x-www-form-urlencoded"
            // The authentication adds `client_id`, except with `client_secret_basic`.
            let isBasic = if case .secretBasic = method { true } else { false }
            if !isBasic { form = FormParameters(form.pairs.filter { $0.name != "client_id" }) }
            try await method.apply(to: &form, headerFields: &fields, clientID: client, at: server)
            body = Array(form.encoded.utf8)
        case .json(let bytes, let bearer):
            fields[.contentType] = "application/json"
            if let bearer { fields[.authorization] = "Bearer \(bearer)" }
            body = bytes
        }
        return TransportRequest(endpoint, method: .post, headerFields: fields, body: RequestBody(body))
    }
}
