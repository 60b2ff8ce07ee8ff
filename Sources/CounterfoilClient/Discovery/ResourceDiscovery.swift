public import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// Finds the authorization server of an API by asking the API.
///
/// RFC 9728 §5 and §3: the API refuses a request without a token and says where its metadata are; otherwise they are at the
/// well-known addresses.
public struct ResourceDiscovery: Sendable {
    private let transport: any HTTPTransport

    /// Makes a discovery over a transport.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// What an API says of itself.
    public struct ProtectedResource: Sendable, Hashable {
        /// The API, as tokens for it name it.
        public let resource: Resource
        /// `authorization_servers`, the first of which is the one that it prefers.
        public let authorizationServers: [Issuer]
        /// What to ask for: what the refusal wanted, otherwise `scopes_supported`; nil when the API says nothing.
        public let scope: Scope?
    }

    /// Why what an API says of itself is not usable.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is not the JSON of RFC 9728 §2.
        case unreadable
        /// `resource` is another API than the one that was asked (RFC 9728 §3.3).
        case otherResource
        /// The address of the metadata is not one to fetch.
        case badAddress(EndpointURL.Refusal)
        /// An address on the device itself, from an API that is not.
        case foreignLoopback
        /// No authorization server is named, or one that is none.
        case noServer

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .unreadable: "the metadata of the API cannot be read"
            case .otherResource: "the metadata of the API belong to another API than the one that was asked"
            case .badAddress(let refusal): "the address of the API's metadata cannot be used: \(refusal)"
            case .foreignLoopback: "the API points to this device, where it is not"
            case .noServer: "the metadata of the API name no authorization server that can be used"
            }
        }
    }

    /// Asks an API at its address, first for a refusal and then for its metadata.
    public func metadata(of address: String) async throws(SignInError) -> ProtectedResource {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(address) } catch { throw .unusable("the API cannot be used: \(error)") }
        let refusal = try await send(endpoint)
        let challenges = refusal.head.headerFields[values: .wwwAuthenticate]
            .flatMap(AuthenticationChallenge.list)
            .filter { $0.scheme == "bearer" || $0.scheme == "dpop" }
        let wanted = challenges.compactMap { $0["scope"] }.first.flatMap { try? Scope(lenient: $0) }
        // RFC 9728 §5.1: what the refusal names comes first, and nothing else is tried when that is wrong.
        if refusal.statusCode == 401, let named = challenges.compactMap({ $0["resource_metadata"] }).first {
            let place: EndpointURL
            do { place = try EndpointURL(named) } catch { throw .unsafe(.resource(.badAddress(error))) }
            guard !place.isLoopback || endpoint.isLoopback else { throw .unsafe(.resource(.foreignLoopback)) }
            guard let found = try await metadata(at: place, of: address, wanted: wanted) else {
                throw .unsafe(.resource(.unreadable))
            }
            return found
        }
        for place in Self.wellKnownPlaces(of: endpoint) {
            guard let url = try? EndpointURL(place.address) else { continue }
            if let found = try await metadata(at: url, of: place.resource, wanted: wanted) { return found }
        }
        throw .unusable(
            "\(endpoint.origin) does not say which server signs people in for it; name that server too")
    }

    /// RFC 9728 §3.1: the place of the address itself, then that of its origin.
    private static func wellKnownPlaces(of endpoint: EndpointURL) -> [(address: String, resource: String)] {
        let known = "\(endpoint.origin)/.well-known/oauth-protected-resource"
        let path = endpoint.uri.path == "/" ? "" : endpoint.uri.path
        let own = (address: known + path, resource: endpoint.rawValue)
        return path.isEmpty ? [own] : [own, (address: known, resource: endpoint.origin)]
    }

    /// The metadata at an address, or nil when there is nothing.
    private func metadata(
        at place: EndpointURL, of address: String, wanted: Scope?
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
        do { return try Self.resource(in: response.body, of: address, wanted: wanted) } catch {
            throw .unsafe(.resource(error))
        }
    }

    private static func resource(
        in body: [UInt8], of address: String, wanted: Scope?
    ) throws(Refusal) -> ProtectedResource {
        guard let members = try? JSONReader.object(body), case .string(let name) = members["resource"] else {
            throw .unreadable
        }
        // RFC 9728 §3.3: identical; a slash alone at the end of an origin is the same address.
        guard name == address || name + "/" == address || name == address + "/", let resource = try? Resource(name)
        else { throw .otherResource }
        guard case .array(let list) = members["authorization_servers"] else { throw .noServer }
        let servers = list.compactMap { value -> Issuer? in
            if case .string(let text) = value { try? Issuer(ofServer: text) } else { nil }
        }
        guard let first = servers.first else { throw .noServer }
        let isHere = (try? EndpointURL(address))?.isLoopback ?? false
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
