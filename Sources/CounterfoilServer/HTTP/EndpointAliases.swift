import CounterfoilProtocol

/// Second paths of endpoints, for clients that have the paths of another server built in.
///
/// A second path leads to the same endpoint, so its methods, limits, CORS and metrics are those of the first. The metadata name the
/// first paths only.
public struct EndpointAliases: Sendable, Hashable {
    /// An endpoint and a second path of it, under the issuer.
    public struct Alias: Sendable, Hashable {
        /// The endpoint.
        public let endpoint: Endpoint
        /// The path.
        public let path: String
    }

    /// Every alias, in the order in which they were added.
    public private(set) var all: [Alias] = []

    /// The most characters of a path.
    private static let lengthLimit = 256

    /// No aliases.
    public init() {}

    /// The reason why an alias is refused.
    public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// It is not of the form `ENDPOINT=PATH`.
        case form
        /// There is no such endpoint, or it has one path only.
        case endpoint(String)
        /// The path is not one.
        case path
        /// Something else answers at the path.
        case taken(String)

        /// The reason and the remedy, safe to show.
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

    /// The endpoints that can have a second path, by their names on the command line.
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

    /// The second paths of an endpoint, under the issuer.
    public func paths(of endpoint: Endpoint) -> [String] { all.filter { $0.endpoint == endpoint }.map(\.path) }

    /// One slash may end it, as the paths of some servers do.
    private static func isPath(_ text: String) -> Bool {
        guard text.hasPrefix("/"), text.utf8.count <= lengthLimit else { return false }
        var segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        if segments.count > 1, segments.last == "" { segments.removeLast() }
        return segments.allSatisfy { segment in
            !segment.isEmpty && segment != "." && segment != ".." && segment.utf8.allSatisfy(\.isUnreserved)
        }
    }

    /// Whether something of the server has a path, or could have it: files of the pages, and what other standards reserve.
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
