public import CounterfoilProtocol

/// The segments of a path that name something.
public struct PathParameters: Sendable, Hashable {
    /// The application of `{client_id}`.
    public var clientID: ClientIdentifier?
    /// The picture of `{logo}`.
    public var logo: LogoIdentifier?

    /// Names; none for most paths.
    public init(clientID: ClientIdentifier? = nil, logo: LogoIdentifier? = nil) {
        self.clientID = clientID
        self.logo = logo
    }
}

/// Which endpoint answers at which path of an origin: exactly the paths that endpoints name, or nothing.
public struct RouteTable: Sendable {
    /// An endpoint and what its path names.
    public struct Route: Sendable, Hashable {
        /// The endpoint.
        public let endpoint: Endpoint
        /// What the path names.
        public let parameters: PathParameters
    }

    private struct Pattern: Sendable {
        let segments: [Substring]
        let endpoint: Endpoint
    }

    private let exact: [String: Endpoint]
    private let patterns: [Pattern]

    /// The paths of endpoints at the origin of the issuer, with the second paths that nothing else has.
    package init(_ endpoints: [Endpoint], settings: ServerSettings) {
        let issuer = settings.issuer
        let paths = endpoints.map { (endpoint: $0, paths: $0.paths(of: issuer)) }
        let taken = RouteTable(paths)
        let aliases = settings.endpointAliases.all.map { alias in
            (endpoint: alias.endpoint, paths: [issuer.path + alias.path].filter { taken.route($0) == nil })
        }
        self.init(paths + aliases)
    }

    /// The paths at an origin for callback addresses, which does not have the path of the issuer.
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

    /// The endpoint at a path, without its query; nil where there is nothing.
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
                // Identifiers of this server need no escaping, so one that has any is none.
                guard !segment.isEmpty, !segment.utf8.contains(UInt8(ascii: "%")),
                    let id = ClientIdentifier(String(segment))
                else { return nil }
                parameters.clientID = id
            case "{logo}":
                guard let logo = LogoIdentifier(String(segment)) else { return nil }
                parameters.logo = logo
            default:
                guard segment == wanted else { return nil }
            }
        }
        return parameters
    }
}
