import CounterfoilProtocol
public import HTTPTypes

/// A client that calls an API with an access token.
///
/// RFC 6750 §2.1: the token is sent in the `Authorization` header and nowhere else. The URL must be https, or
/// http on a loopback host. The token is sent to this URL only: the client returns a redirect response and
/// does not follow it.
public struct ResourceClient: Sendable {
    private let credentials: Credentials
    private let transport: any HTTPTransport

    /// The reason why the client did not send a request.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The URL is malformed, or is neither https nor http on a loopback host.
        case badURL(EndpointURL.Refusal)
        /// The token was issued for other APIs than the API at the URL (RFC 8707 §2); the value is the URL's origin.
        case foreignResource(String)
        /// The caller set an `Authorization` header, which the client sets itself.
        ///
        /// A request carries one token by one method (RFC 6750 §2).
        case secondAuthorization

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .badURL(let refusal): "a token cannot be sent to this URL: \(refusal)"
            case .foreignResource(let origin): "the access token is not for \(origin); sign in for that API"
            case .secondAuthorization: "the client sets the Authorization header field itself; omit it"
            }
        }
    }

    /// Creates a client that sends the access token of `credentials` and never refreshes it, unlike ``TokenSession``.
    public init(_ credentials: Credentials, transport: any HTTPTransport = .standard) {
        self.credentials = credentials
        self.transport = transport
    }

    /// Sends a GET request with the access token; the response body may have at most 64 MiB.
    public func get(_ url: String) async throws -> TransportResponse {
        try await send(TransportRequest(api: url))
    }

    /// Sends a request with the access token and returns the response, whatever its status.
    ///
    /// The function throws ``TransportFailure/tooLarge(origin:limit:)`` if the response body exceeds
    /// ``TransportRequest/byteLimit``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.headerFields[.authorization] == nil else { throw Refusal.secondAuthorization }
        guard credentials.isMeant(for: request.endpoint) else {
            throw Refusal.foreignResource(request.endpoint.origin)
        }
        var authorized = request
        let scheme = (credentials.server?.profile.behavior ?? .standard).authorizationScheme
        authorized.headerFields[.authorization] =
            "\(credentials.proofKey == nil ? scheme : "DPoP") \(credentials.accessToken.exposed)"
        guard let key = credentials.proofKey else { return try await transport.send(authorized) }
        return try await DPoPProver(key).send(authorized, carrying: credentials.accessToken, through: transport)
    }
}

extension TransportRequest {
    /// Creates a request to an API, with limits of 64 MiB for the response body and of five minutes for the call.
    public init(
        api url: String,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: [UInt8] = []
    ) throws(ResourceClient.Refusal) {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(url) } catch { throw .badURL(error) }
        self.init(
            endpoint, method: method, headerFields: headerFields, body: body, byteLimit: 64 * 1024 * 1024,
            timeout: .seconds(300))
    }
}

extension Credentials {
    /// Returns whether a URL has the origin of an API for which the token was requested (RFC 8707).
    ///
    /// The result is always true if the token request named no API.
    fileprivate func isMeant(for endpoint: EndpointURL) -> Bool {
        // A resource identifier that is not a URL, such as a URN, does not restrict the URLs of requests.
        let places = resources.compactMap { try? EndpointURL($0.rawValue) }
        return places.isEmpty || places.contains { $0.origin.lowercased() == endpoint.origin.lowercased() }
    }
}
