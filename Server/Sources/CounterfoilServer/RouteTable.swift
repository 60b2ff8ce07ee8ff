import CounterfoilProtocol
import CounterfoilStore

/// A table of the paths at an origin of the server, with the endpoint of each path.
public struct RouteTable: Sendable {
    /// The endpoint at a path, and the parameters in that path.
    public struct Route: Sendable, Hashable {
        /// The endpoint whose path this is; for an alias, the endpoint that the alias belongs to.
        public let endpoint: Endpoint
        /// The values of the placeholders in the path of the endpoint.
        public let parameters: PathParameters
    }

    private struct Pattern: Sendable {
        let segments: [Substring]
        let endpoint: Endpoint
    }

    private let exact: [String: Endpoint]
    private let patterns: [Pattern]

    /// Creates the table for the origin of the issuer; an alias whose path is already that of an endpoint is ignored.
    package init(_ endpoints: [Endpoint], settings: ServerSettings) {
        let issuer = settings.issuer
        let paths = endpoints.map { (endpoint: $0, paths: $0.paths(of: issuer)) }
        let taken = RouteTable(paths)
        let aliases = settings.endpointAliases.all.map { alias in
            (endpoint: alias.endpoint, paths: [issuer.path + alias.path].filter { taken.route($0) == nil })
        }
        self.init(paths + aliases)
    }

    /// Creates the table for the callback origin, where paths do not start with the path of the issuer.
    static func ofCallbackOrigin(_ endpoints: [Endpoint]) -> RouteTable {
        RouteTable(endpoints.filter(\.isAtCallbackOrigin).map { ($0, [$0.path]) })
    }

    private init(_ paths: [(endpoint: Endpoint, paths: [String])]) {
        var exact: [String: Endpoint] = [:]
        var patterns: [Pattern] = []
        for (endpoint, paths) in paths {
            for path in paths {
                if path.contains("{") {
                    patterns.append(Pattern(segments: path.split(separator: "/"), endpoint: endpoint))
                } else {
                    exact[path] = endpoint
                }
            }
        }
        self.exact = exact
        self.patterns = patterns
    }

    /// Returns the route of a path, which must not contain the query; nil if no endpoint has the path.
    public func route(_ path: some StringProtocol) -> Route? {
        if let endpoint = exact[String(path)] { return Route(endpoint: endpoint, parameters: PathParameters()) }
        guard path.utf8.count <= 4096, path.hasPrefix("/"), !path.hasSuffix("/") else { return nil }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for pattern in patterns where pattern.segments.count == segments.count {
            if let parameters = Self.match(segments, pattern.segments) {
                return Route(endpoint: pattern.endpoint, parameters: parameters)
            }
        }
        return nil
    }

    private static func match(_ segments: [some StringProtocol], _ pattern: [Substring]) -> PathParameters? {
        var parameters = PathParameters()
        for (segment, wanted) in zip(segments, pattern) {
            switch wanted {
            case "{client_id}":
                guard let id = ClientPathSegment.decode(segment) else { return nil }
                parameters.clientID = id
            case "{user_id}":
                guard let id = UserPathSegment.decode(segment) else { return nil }
                parameters.userID = id
            case "{logo}":
                guard let logo = LogoIdentifier(String(segment)) else { return nil }
                parameters.logo = logo
            default:
                if wanted.hasPrefix("{") {
                    parameters.segments[String(wanted.dropFirst().dropLast())] = String(segment)
                } else if segment != wanted {
                    return nil
                }
            }
        }
        return parameters
    }
}
