public import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The discovery of the authorization server of an API from the metadata of the API.
///
/// RFC 9728 §5 and §3. The client sends a request without a token, and the API rejects the request with a challenge
/// (`WWW-Authenticate`). If the challenge contains the URL of the metadata, the client uses this URL. If not, it tries
/// the well-known URLs.
public struct ResourceDiscovery: Sendable {
    private let transport: any HTTPTransport

    /// Creates a discovery; `transport` sends the request to the API and the requests for its metadata.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// The metadata of an API, which RFC 9728 calls a protected resource.
    public struct ProtectedResource: Sendable, Hashable {
        /// `resource`: the identifier of the API.
        public let resource: Resource
        /// The valid issuers in `authorization_servers`, at least one, in the order in which the API prefers them.
        ///
        /// Issuers on loopback are left out, unless the API is on loopback itself.
        public let authorizationServers: [Issuer]
        /// The scope to request: `scope` of the challenge or, if missing, `scopes_supported`; nil if both are missing.
        public let scope: Scope?
    }

    /// The reason why the metadata of an API was rejected, so that the client found no authorization server.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The metadata are not the JSON of RFC 9728 §2.
        case unreadable
        /// `resource` in the metadata, the value, names an API other than the requested one (RFC 9728 §3.3).
        case otherResource(named: String)
        /// ``EndpointURL`` rejects the URL of the metadata, so the client must not send a request to it.
        case badURL(EndpointURL.Refusal)
        /// The URL of the metadata or every authorization server is on a loopback host, but the API is not.
        case foreignLoopback
        /// The metadata contain no valid issuer in `authorization_servers`.
        case noServer

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .unreadable: "the metadata of the API is invalid"
            case .otherResource(let named):
                "the metadata names the API \(String(named.prefix(200)).strippingControlCharacters) instead of the requested one;"
                    + " if that is the API, use exactly that URL, including any final slash"
            case .badURL(let refusal): "the URL of the API's metadata cannot be used: \(refusal)"
            case .foreignLoopback: "the API names a URL on this device, but is not on this device itself"
            case .noServer: "the metadata of the API names no usable authorization server"
            }
        }
    }

    /// Sends a request without a token to the API, then fetches the metadata of the API.
    public func metadata(of url: String) async throws(SignInError) -> ProtectedResource {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(url) } catch { throw .unusable("the API cannot be used: \(error)") }
        let refusal = try await refusal(of: endpoint)
        let challenges = refusal.head.headerFields[values: .wwwAuthenticate]
            .flatMap(AuthenticationChallenge.list)
            .filter { $0.scheme == "bearer" || $0.scheme == "dpop" }
        let wanted = challenges.compactMap { $0["scope"] }.first.flatMap { try? Scope(lenient: $0) }
        // RFC 9728 §5.1: a metadata URL in the challenge takes precedence. If it cannot be used, no other URL is tried.
        if refusal.statusCode == 401, let named = challenges.compactMap({ $0["resource_metadata"] }).first {
            let place: EndpointURL
            do { place = try EndpointURL(named) } catch { throw .unsafe(.resource(.badURL(error))) }
            guard !place.isLoopback || endpoint.isLoopback else { throw .unsafe(.resource(.foreignLoopback)) }
            // RFC 9728 §7.7: a URL in a private network is permitted, because a company has its APIs there. The request
            // has no token, needs a certificate that this system trusts, and shows the API nothing of the response.
            guard let found = try await metadata(at: place, of: url, wanted: wanted) else {
                throw .unsafe(.resource(.unreadable))
            }
            return found
        }
        for place in Self.wellKnownURLs(of: endpoint) {
            guard let url = try? EndpointURL(place.url) else { continue }
            if let found = try await metadata(at: url, of: place.resource, wanted: wanted) { return found }
        }
        throw .unusable(
            "\(endpoint.origin) does not name its authorization server; pass the issuer of that server too")
    }

    /// Returns the well-known URLs for the path of the API and for its origin, in this order (RFC 9728 §3.1).
    ///
    /// Each URL comes with the value that `resource` must have in the metadata at this URL.
    package static func wellKnownURLs(of endpoint: EndpointURL) -> [(url: String, resource: String)] {
        let known = "\(endpoint.origin)/.well-known/oauth-protected-resource"
        let path = endpoint.uri.path == "/" ? "" : endpoint.uri.path
        let own = (url: known + path, resource: endpoint.rawValue)
        return path.isEmpty ? [own] : [own, (url: known, resource: endpoint.origin)]
    }

    /// Fetches the metadata at a URL; nil if the status, such as 404, shows that the URL has no metadata.
    private func metadata(
        at place: EndpointURL, of url: String, wanted: Scope?
    ) async throws(SignInError) -> ProtectedResource? {
        let response = try await transport.answer(
            to: TransportRequest(place, headerFields: [.accept: "application/json"]))
        guard response.statusCode == 200 else { return nil }
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
        // RFC 9728 §3.3: `resource` must be identical to the requested URL. RFC 3986 §6.2.3: an empty path equals `/`.
        guard withoutEmptyPath(name) == withoutEmptyPath(url), let resource = try? Resource(name) else {
            throw .otherResource(named: name)
        }
        let named = (members["authorization_servers"]?.texts ?? []).compactMap { try? Issuer(ofServer: $0) }
        guard !named.isEmpty else { throw .noServer }
        // Another user of this device can listen at a loopback URL. The program may choose any of the servers.
        let isHere = (try? EndpointURL(url))?.isLoopback ?? false
        let servers = named.filter { !$0.isLoopback || isHere }
        guard !servers.isEmpty else { throw .foreignLoopback }
        var scope = wanted
        if scope == nil, let words = members["scopes_supported"]?.texts {
            scope = try? Scope(lenient: words.joined(separator: " "))
        }
        return ProtectedResource(resource: resource, authorizationServers: servers, scope: scope)
    }

    /// Returns a URL without the slash of an empty path; any other URL is unchanged.
    private static func withoutEmptyPath(_ url: String) -> String {
        guard let uri = try? AbsoluteURI(parsing: url), uri.path == "/", url.hasSuffix("/") else { return url }
        return String(url.dropLast())
    }

    /// Sends a request without a token to the API, and returns the head of the response.
    ///
    /// The body has no meaning here, and may be long or without end.
    private func refusal(of endpoint: EndpointURL) async throws(SignInError) -> TransportResponse {
        var request = TransportRequest(endpoint, headerFields: [.accept: "application/json"])
        request.readsBody = false
        do { return try await transport.send(request) } catch {
            // A transport of the program may read the body nevertheless. The well-known URLs remain.
            if case .tooLarge = error { return TransportResponse(head: HTTPResponse(status: .ok), body: []) }
            throw SignInError(error)
        }
    }
}
