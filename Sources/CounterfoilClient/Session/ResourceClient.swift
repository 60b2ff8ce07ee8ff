import CounterfoilProtocol
public import HTTPTypes

/// A client that calls an API with an access token.
///
/// RFC 6750 §2.1: the token is sent in the `Authorization` header and nowhere else. The origin of the URL must be one
/// of those that were named at the sign-in or to the client. The client follows at most five redirects within the
/// origin of the URL. It never sends the token to another origin: it returns a redirect response that leads there.
public struct ResourceClient: Sendable {
    private let credentials: Credentials
    private let origins: Set<APIOrigin>
    private let transport: any HTTPTransport

    /// The reason why the client did not send a request.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The URL is malformed, or is neither https nor http on a loopback host.
        case badURL(EndpointURL.Refusal)
        /// The URL has another origin than the APIs to which the token may be sent.
        case otherOrigin(APIOrigin, allowed: Set<APIOrigin>)
        /// The URL is http on this device, but neither the issuer nor a resource of the token is on this device.
        ///
        /// Any user of this device can listen there.
        case foreignLoopback(APIOrigin)
        /// The caller set an `Authorization` header, which the client sets itself.
        ///
        /// A request carries one token by one method (RFC 6750 §2).
        case secondAuthorization

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .badURL(let refusal): "a token cannot be sent to this URL: \(refusal)"
            case .otherOrigin(let origin, let allowed):
                "the access token is not for \(origin), but for "
                    + (allowed.isEmpty ? "no API" : allowed.map(\.rawValue).sorted().joined(separator: ", "))
                    + "; sign in again and name \(origin) as an API"
            case .foreignLoopback(let origin):
                "the access token is not sent to \(origin), because the server that issued it is not on this device;"
                    + " sign in for an API on this device by its resource identifier"
            case .secondAuthorization: "the client sets the Authorization header field itself; omit it"
            }
        }
    }

    /// The reason why there is no response of the API.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The client did not send the request; the value is the reason.
        case refused(Refusal)
        /// No response arrived.
        case noResponse(TransportFailure)

        /// A description of the problem, safe to show to users.
        public var description: String {
            switch self {
            case .refused(let refusal): "\(refusal)"
            case .noResponse(let failure): "\(failure)"
            }
        }
    }

    /// Creates a client that sends the access token of `credentials` and never refreshes it, unlike ``TokenSession``.
    ///
    /// `origins` are the origins of the APIs to which the token may be sent; nil means
    /// ``Credentials/allowedOrigins``.
    public init(
        _ credentials: Credentials, origins: Set<APIOrigin>? = nil, transport: any HTTPTransport = .standard
    ) {
        self.credentials = credentials
        self.origins = origins ?? credentials.allowedOrigins
        self.transport = transport
    }

    /// Sends a GET request with the access token; the response body may have at most 64 MiB.
    public func get(_ url: String) async throws(Failure) -> TransportResponse {
        let request: TransportRequest
        do { request = try TransportRequest(api: url) } catch { throw .refused(error) }
        return try await send(request)
    }

    /// Sends a request with the access token and returns the response, whatever its status.
    ///
    /// The function throws ``TransportFailure/tooLarge(origin:limit:)`` if the response body exceeds
    /// ``TransportRequest/byteLimit``.
    public func send(_ request: TransportRequest) async throws(Failure) -> TransportResponse {
        try await response(to: request) { request throws(TransportFailure) in try await transport.send(request) }
    }

    /// Sends a request with the access token, and returns when the head of the response has arrived.
    ///
    /// ``TransportRequest/timeout`` limits the time until then, and `idleTimeout` each later wait for a byte.
    /// ``TransportRequest/byteLimit`` does not apply.
    public func stream(
        _ request: TransportRequest, idleTimeout: Duration = .seconds(300)
    ) async throws(Failure) -> StreamedResponse {
        try await response(to: request) { request throws(TransportFailure) in
            try await transport.stream(request, idleTimeout: idleTimeout)
        }
    }

    private func response<Response: HeadedResponse>(
        to request: TransportRequest,
        through exchange: (TransportRequest) async throws(TransportFailure) -> Response
    ) async throws(Failure) -> Response {
        guard request.headerFields[.authorization] == nil else { throw .refused(.secondAuthorization) }
        do { try credentials.check(request.endpoint, origins: origins) } catch { throw .refused(error) }
        var authorized = request
        authorized.headerFields[.authorization] = credentials.authorization
        do {
            return try await APIRedirects.send(authorized) { request throws(TransportFailure) in
                guard let key = credentials.proofKey else { return try await exchange(request) }
                return try await DPoPProver(key).send(request, presenting: credentials.accessToken, through: exchange)
            }
        } catch { throw .noResponse(error) }
    }
}

extension TransportRequest {
    /// Creates a request to an API, with limits of 64 MiB for the response body and of five minutes for the call.
    ///
    /// The URL may have up to 64 KiB. Characters that a URL cannot contain, such as `|` and spaces in the query of
    /// OData, are percent-encoded.
    public init(
        api url: String,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: RequestBody = RequestBody()
    ) throws(ResourceClient.Refusal) {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(api: url) } catch { throw .badURL(error) }
        self.init(
            endpoint, method: method, headerFields: headerFields, body: body, byteLimit: 64 * 1024 * 1024,
            timeout: .seconds(300))
    }
}

extension Credentials {
    /// The scheme of `Authorization` for an API, which a vendor may have changed.
    package var authorizationScheme: String {
        proofKey == nil ? (server?.profile.behavior ?? .standard).authorizationScheme : "DPoP"
    }

    /// The value of `Authorization` for an API: the scheme and the access token.
    var authorization: String { "\(authorizationScheme) \(accessToken.exposed)" }

    /// Throws unless the access token may be sent to a URL.
    package func check(_ endpoint: EndpointURL, origins: Set<APIOrigin>) throws(ResourceClient.Refusal) {
        let origin = APIOrigin(of: endpoint)
        guard !origin.isPlain || isForLoopback else { throw .foreignLoopback(origin) }
        let allowed = origins.subtracting(foreignOrigins)
        guard allowed.contains(origin) else { throw .otherOrigin(origin, allowed: allowed) }
    }
}
