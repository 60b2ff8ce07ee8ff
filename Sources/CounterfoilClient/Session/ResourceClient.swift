import CounterfoilProtocol
public import HTTPTypes

/// Calls an API with an access token.
///
/// RFC 6750 §2.1: the token goes in the `Authorization` header and nowhere else. It goes to https or to the device itself
/// only, and to exactly the address that is named: a redirect is handed back, not followed.
public struct ResourceClient: Sendable {
    private let credentials: Credentials
    private let transport: any HTTPTransport

    /// Why a call was not made.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The address is not one to send a token to.
        case badURL(EndpointURL.Refusal)
        /// The token is for other APIs than the one at this address (RFC 8707 §2); the value is its origin.
        case foreignResource(String)
        /// The caller gave an `Authorization` header; a request carries one token by one method (RFC 6750 §2).
        case secondAuthorization

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .badURL(let refusal): "a token cannot be sent to this address: \(refusal)"
            case .foreignResource(let origin): "the access token is not for \(origin); sign in for that API"
            case .secondAuthorization: "the Authorization header is set here; leave it out"
            }
        }
    }

    /// Makes a client that sends the token of some credentials.
    public init(_ credentials: Credentials, transport: any HTTPTransport = .standard) {
        self.credentials = credentials
        self.transport = transport
    }

    /// Fetches an address.
    public func get(_ url: String) async throws -> TransportResponse {
        try await send(url)
    }

    /// Sends a request; an answer of whatever status is returned, at most `byteLimit` bytes of it.
    public func send(
        _ url: String,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: [UInt8] = [],
        byteLimit: Int = 64 * 1024 * 1024,
        timeout: Duration = .seconds(300)
    ) async throws -> TransportResponse {
        guard headerFields[.authorization] == nil else { throw Refusal.secondAuthorization }
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(url) } catch { throw Refusal.badURL(error) }
        guard credentials.isMeant(for: endpoint) else { throw Refusal.foreignResource(endpoint.origin) }
        var request = TransportRequest(
            endpoint, method: method, headerFields: headerFields, body: body, byteLimit: byteLimit, timeout: timeout)
        let scheme = (credentials.server?.profile.behavior ?? .standard).authorizationScheme
        request.headerFields[.authorization] =
            "\(credentials.proofKey == nil ? scheme : "DPoP") \(credentials.accessToken.exposed)"
        guard let key = credentials.proofKey else { return try await transport.send(request) }
        return try await Prover(key).send(request, carrying: credentials.accessToken, through: transport)
    }
}

extension Credentials {
    /// Whether an address is of an API that the token was asked for; any, when none was named.
    fileprivate func isMeant(for endpoint: EndpointURL) -> Bool {
        // A name that is no address, such as a URN, says nothing about places.
        let places = resources.compactMap { try? EndpointURL($0.rawValue) }
        return places.isEmpty || places.contains { $0.origin.lowercased() == endpoint.origin.lowercased() }
    }
}
