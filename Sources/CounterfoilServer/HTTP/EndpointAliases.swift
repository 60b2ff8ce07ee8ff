import CounterfoilProtocol

/// Additional paths of endpoints, for clients with the hard-coded paths of another server.
///
/// Methods, limits, CORS and metrics of an alias are those of its endpoint. The metadata contains no
/// aliases.
public struct EndpointAliases: Sendable, Hashable {
    /// An endpoint and an additional path of it, under the issuer.
    public struct Alias: Sendable, Hashable {
        /// The endpoint.
        public let endpoint: Endpoint
        /// The path.
        public let path: String
    }

    /// Every alias, in the order in which they were added.
    public private(set) var all: [Alias] = []

    /// The maximum length of a path in characters.
    private static let lengthLimit = 256

    /// Creates an empty list.
    public init() {}

    /// The reason why an alias is refused.
    public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// It is not of the form `ENDPOINT=PATH`.
        case form
        /// The endpoint does not exist or cannot have an alias.
        case endpoint(String)
        /// The path is not valid.
        case path
        /// The server already uses the path.
        case taken(String)

        /// The reason with a remedy, safe to show to users.
        public var description: String {
            switch self {
            case .form: "an alias is ENDPOINT=PATH, such as token=/connect/token"
            case .endpoint(let name):
                "\(name.debugDescription) is not one of \(Name.allCases.map(\.rawValue).joined(separator: ", "))"
            case .path:
                "a path begins with / and has segments of letters, digits and - . _ ~, at most "
                    + "\(EndpointAliases.lengthLimit) characters, and no segment that is empty, . or .."
            case .taken(let path): "\(path) is a path of this server already"
            }
        }
    }

    /// The endpoints that can have aliases, by their names on the command line.
    private enum Name: String, CaseIterable {
        case authorization
        case token
        case revocation
        case userinfo

        var endpoint: Endpoint {
            switch self {
            case .authorization: .authorization
            case .token: .token
            case .revocation: .revocation
            case .userinfo: .userInfo
            }
        }
    }

    /// Adds an alias of the form `ENDPOINT=PATH`; an endpoint may have several.
    ///
    /// The paths of `pages` are taken as well as those of the protocol.
    public mutating func add(_ text: String, beside pages: ServerPages) throws(Refusal) {
        guard let sign = text.firstIndex(of: "=") else { throw .form }
        guard let name = Name(rawValue: String(text[..<sign])) else {
            throw .endpoint(String(text[..<sign].prefix(32)))
        }
        let path = String(text[text.index(after: sign)...])
        guard Self.isPath(path) else { throw .path }
        guard !Self.isTaken(path, beside: pages), !all.contains(where: { $0.path == path }) else { throw .taken(path) }
        all.append(Alias(endpoint: name.endpoint, path: path))
    }

    /// Returns the aliases of an endpoint, under the issuer.
    public func paths(of endpoint: Endpoint) -> [String] { all.filter { $0.endpoint == endpoint }.map(\.path) }

    /// Returns whether a text is a valid path; one slash may end it, as in some other servers.
    private static func isPath(_ text: String) -> Bool {
        guard text.hasPrefix("/"), text.utf8.count <= lengthLimit else { return false }
        var segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        if segments.count > 1, segments.last == "" { segments.removeLast() }
        return segments.allSatisfy { segment in
            !segment.isEmpty && segment != "." && segment != ".." && segment.utf8.allSatisfy(\.isUnreserved)
        }
    }

    /// Returns whether the server uses or may use a path: endpoints, static files and well-known URIs.
    private static func isTaken(_ path: String, beside pages: ServerPages) -> Bool {
        let segments = path.split(separator: "/")
        if ["assets", ".well-known"].contains(segments.first) { return true }
        return (Endpoint.protocolEndpoints + pages.endpoints).contains { endpoint in
            let pattern = endpoint.path.split(separator: "/")
            return pattern.count == segments.count
                && zip(pattern, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
    }
}
