public import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The discovery of an API's authorization server by asking the API.
///
/// RFC 9728 §5 and §3. The API rejects a request without a token and names the URL of its metadata.
/// Otherwise the metadata are at the well-known URLs.
public struct ResourceDiscovery: Sendable {
    private let transport: any HTTPTransport

    /// Creates a discovery that sends its requests through `transport`.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// The metadata of a protected resource, that is, of an API.
    public struct ProtectedResource: Sendable, Hashable {
        /// `resource`: the identifier of the API.
        public let resource: Resource
        /// `authorization_servers`; the API prefers the first one.
        public let authorizationServers: [Issuer]
        /// The scope to request: that of the challenge, otherwise `scopes_supported`; nil if the API names none.
        public let scope: Scope?
    }

    /// The reason why the metadata of an API cannot be used.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The metadata are not the JSON of RFC 9728 §2.
        case unreadable
        /// `resource` names another API than the requested one (RFC 9728 §3.3).
        case otherResource
        /// The metadata are at a URL to which no request may be sent.
        case badURL(EndpointURL.Refusal)
        /// A loopback URL, although the API is not on the device.
        case foreignLoopback
        /// The metadata name no usable authorization server.
        case noServer

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .unreadable: "the metadata of the API is invalid"
            case .otherResource: "the metadata names an API other than the requested one"
            case .badURL(let refusal): "the URL of the API's metadata cannot be used: \(refusal)"
            case .foreignLoopback: "the API names a URL on this device, but is not on this device itself"
            case .noServer: "the metadata of the API names no usable authorization server"
            }
        }
    }

    /// Sends a request without a token to the API, then fetches its metadata.
    public func metadata(of url: String) async throws(SignInError) -> ProtectedResource {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(url) } catch { throw .unusable("the API cannot be used: \(error)") }
        let refusal = try await send(endpoint)
        let challenges = refusal.head.headerFields[values: .wwwAuthenticate]
            .flatMap(AuthenticationChallenge.list)
            .filter { $0.scheme == "bearer" || $0.scheme == "dpop" }
        let wanted = challenges.compactMap { $0["scope"] }.first.flatMap { try? Scope(lenient: $0) }
        // RFC 9728 §5.1: the URL in the challenge comes first. If it is wrong, no other URL is tried.
        if refusal.statusCode == 401, let named = challenges.compactMap({ $0["resource_metadata"] }).first {
            let place: EndpointURL
            do { place = try EndpointURL(named) } catch { throw .unsafe(.resource(.badURL(error))) }
            guard !place.isLoopback || endpoint.isLoopback else { throw .unsafe(.resource(.foreignLoopback)) }
            guard let found = try await metadata(at: place, of: url, wanted: wanted) else {
                throw .unsafe(.resource(.unreadable))
            }
            return found
        }
        for place in Self.wellKnownPlaces(of: endpoint) {
            guard let url = try? EndpointURL(place.url) else { continue }
            if let found = try await metadata(at: url, of: place.resource, wanted: wanted) { return found }
        }
        throw .unusable(
            "\(endpoint.origin) does not name its authorization server; pass the issuer of that server too")
    }

    /// Returns the well-known URLs for the path of the API and for its origin, in this order (RFC 9728 §3.1).
    private static func wellKnownPlaces(of endpoint: EndpointURL) -> [(url: String, resource: String)] {
        let known = "\(endpoint.origin)/.well-known/oauth-protected-resource"
        let path = endpoint.uri.path == "/" ? "" : endpoint.uri.path
        let own = (url: known + path, resource: endpoint.rawValue)
        return path.isEmpty ? [own] : [own, (url: known, resource: endpoint.origin)]
    }

    /// Fetches the metadata at a URL; nil if there are none.
    private func metadata(
        at place: EndpointURL, of url: String, wanted: Scope?
    ) async throws(SignInError) -> ProtectedResource? {
        let response = try await send(place)
        switch response.statusCode {
        case 200: break
        case 300..<400: throw .unsafe(.redirected(origin: place.origin))
        case 429, 500..<600:
            throw .unavailable(
                .status(response.statusCode, origin: place.origin, retryAfter: response.retryAfter))
        default: return nil
        }
        do { return try Self.resource(in: response.body, of: url, wanted: wanted) } catch {
            throw .unsafe(.resource(error))
        }
    }

    private static func resource(
        in body: [UInt8], of url: String, wanted: Scope?
    ) throws(Refusal) -> ProtectedResource {
        guard let members = try? JSONReader.object(body), case .string(let name) = members["resource"] else {
            throw .unreadable
        }
        // RFC 9728 §3.3: identical, except for a slash at the end.
        guard name == url || name + "/" == url || name == url + "/", let resource = try? Resource(name)
        else { throw .otherResource }
        guard case .array(let list) = members["authorization_servers"] else { throw .noServer }
        let servers = list.compactMap { value -> Issuer? in
            if case .string(let text) = value { try? Issuer(ofServer: text) } else { nil }
        }
        guard let first = servers.first else { throw .noServer }
        let isHere = (try? EndpointURL(url))?.isLoopback ?? false
        guard !first.isLoopback || isHere else { throw .foreignLoopback }
        var scope = wanted
        if scope == nil, case .array(let names) = members["scopes_supported"] {
            let words = names.compactMap { value -> String? in if case .string(let text) = value { text } else { nil } }
            scope = try? Scope(lenient: words.joined(separator: " "))
        }
        return ProtectedResource(resource: resource, authorizationServers: servers, scope: scope)
    }

    private func send(_ endpoint: EndpointURL) async throws(SignInError) -> TransportResponse {
        do {
            return try await transport.send(TransportRequest(endpoint, headerFields: [.accept: "application/json"]))
        } catch { throw SignInError(error) }
    }
}
