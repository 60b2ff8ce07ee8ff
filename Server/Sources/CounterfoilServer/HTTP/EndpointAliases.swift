@_spi(Counterfoil) import CounterfoilProtocol

/// Additional paths of endpoints, for clients in which the paths of another server are hard-coded.
///
/// A request to an alias is treated like a request to its endpoint, with the same methods, limits, CORS rules
/// and metrics. The server metadata does not list aliases.
public struct EndpointAliases: Sendable, Hashable {
    /// One additional path, as ``EndpointAliases/add(_:beside:)`` has parsed it from a text such as
    /// `token=/connect/token`.
    public struct Alias: Sendable, Hashable {
        /// The endpoint that handles requests to the alias.
        public let endpoint: Endpoint
        /// The additional path, relative to the path of the issuer.
        public let path: String
    }

    /// All aliases, in the order in which they were added.
    public private(set) var all: [Alias] = []

    /// The maximum length of an alias path in characters.
    private static let lengthLimit = 256

    /// Creates an empty list; ``add(_:beside:)`` adds aliases.
    public init() {}

    /// The errors of ``EndpointAliases/add(_:beside:)``; `counterfoil-server serve` does not start if an alias is
    /// refused.
    public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The text does not have the form `ENDPOINT=PATH`.
        case form
        /// The name does not belong to an endpoint that can have aliases; the value is the beginning of the name.
        case endpoint(String)
        /// The path is too long, does not begin with a slash, or has a segment that is not allowed.
        case path
        /// The path already belongs to this server or to another alias.
        case taken(String)

        /// The reason and the remedy, safe to show to users.
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

    /// Adds an alias of the form `ENDPOINT=PATH`, which has the path of no endpoint.
    mutating func add(_ text: String, beside endpoints: [Endpoint]) throws(Refusal) {
        guard let sign = text.firstIndex(of: "=") else { throw .form }
        guard let name = Name(rawValue: String(text[..<sign])) else {
            throw .endpoint(String(text[..<sign].prefix(32)))
        }
        let path = String(text[text.index(after: sign)...])
        guard Self.isPath(path) else { throw .path }
        guard !Self.isTaken(path, beside: endpoints), !all.contains(where: { $0.path == path }) else {
            throw .taken(path)
        }
        all.append(Alias(endpoint: name.endpoint, path: path))
    }

    /// Returns the alias paths of an endpoint, relative to the path of the issuer.
    public func paths(of endpoint: Endpoint) -> [String] { all.filter { $0.endpoint == endpoint }.map(\.path) }

    /// Returns true if a text is a valid alias path; a single trailing slash is allowed, because some servers use it.
    private static func isPath(_ text: String) -> Bool {
        guard text.hasPrefix("/"), text.utf8.count <= lengthLimit else { return false }
        var segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        if segments.count > 1, segments.last == "" { segments.removeLast() }
        return segments.allSatisfy { segment in
            !segment.isEmpty && segment != "." && segment != ".." && segment.utf8.allSatisfy(\.isUnreserved)
        }
    }

    /// Returns true if a path belongs to an endpoint, or lies under the paths of static files or well-known URIs.
    private static func isTaken(_ path: String, beside endpoints: [Endpoint]) -> Bool {
        let segments = path.split(separator: "/")
        if ["assets", ".well-known"].contains(segments.first) { return true }
        return (Endpoint.protocolEndpoints + endpoints).contains { endpoint in
            let pattern = endpoint.path.split(separator: "/")
            return pattern.count == segments.count
                && zip(pattern, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
    }
}
