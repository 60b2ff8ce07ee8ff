public import CounterfoilProtocol
import Crypto

/// A registered loopback redirect URI (RFC 8252 §7.3): a host, a path, and ports only if the server requires them.
public struct LoopbackRedirectURI: Sendable, Hashable, CustomStringConvertible {
    /// The reason why the client cannot listen for a redirect URI on loopback (RFC 8252 §7.3).
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is not a valid redirect URI.
        case notARedirectURI(RedirectURI.Refusal)
        /// The host of the redirect URI is not a loopback host, or its scheme is not http.
        case notLoopback
        /// The host is `::1` without the brackets that RFC 3986 §3.2.2 requires; the value is the corrected URI.
        case bareIPv6(corrected: String)

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .notARedirectURI(let refusal): "the redirect URI cannot be used: \(refusal)"
            case .notLoopback:
                "the redirect URI must be on loopback, such as http://127.0.0.1/callback"
            case .bareIPv6(let corrected): "write the IPv6 address in brackets: \(corrected)"
            }
        }
    }

    /// The host of the registered redirect URI: `127.0.0.1`, `[::1]` or `localhost`.
    public let host: LoopbackHost
    /// The ports to try in order; empty if any free port can be used.
    public let ports: [Int]
    private let registeredPath: String
    private let registeredQuery: String?

    /// `http://127.0.0.1/callback` on any free port, with an IP literal as RFC 8252 §8.3 recommends.
    public static let standard = LoopbackRedirectURI(host: .ipv4, ports: [], path: "/callback", query: nil)

    /// `http://[::1]/callback` on any free port, for a device without IPv4.
    public static let standardIPv6 = LoopbackRedirectURI(host: .ipv6, ports: [], path: "/callback", query: nil)

    /// Parses a registered redirect URI; without a port, any free port is used.
    public init(_ text: String) throws(Refusal) {
        if let corrected = Self.bracketed(text) { throw .bareIPv6(corrected: corrected) }
        let uri: RedirectURI
        do { uri = try RedirectURI(text) } catch { throw .notARedirectURI(error) }
        guard case .loopback(let host, let port) = uri.kind else { throw .notLoopback }
        self.init(host: host, ports: port.map { [$0] } ?? [], path: uri.uri.path, query: uri.uri.query)
    }

    private init(host: LoopbackHost, ports: [Int], path: String, query: String?) {
        self.host = host
        self.ports = ports
        registeredPath = path
        registeredQuery = query
    }

    /// Returns a redirect URI at `::1` with brackets around the address; nil if it has them, or another host.
    static func bracketed(_ text: String) -> String? {
        let start = "http://"
        guard text.lowercased().hasPrefix(start) else { return nil }
        let rest = text.dropFirst(start.count)
        guard rest.hasPrefix("::1"), rest.dropFirst(3).first.map({ "/:?#".contains($0) }) ?? true else { return nil }
        return "\(start)[::1]\(rest.dropFirst(3))"
    }

    /// Returns the same URI with several ports to try in order, for servers that require registered ports.
    public func tryingPorts(_ ports: [Int]) -> LoopbackRedirectURI {
        LoopbackRedirectURI(host: host, ports: ports, path: registeredPath, query: registeredQuery)
    }

    /// Returns the same URI with a path for one issuer, such as `/callback/pnsTSVLoBgBzMWg7ndtCzg`.
    func separated(for issuer: Issuer) -> LoopbackRedirectURI {
        let digest = Base64URL.encode(Array(SHA256.hash(data: Array(issuer.rawValue.utf8)).prefix(16)))
        return LoopbackRedirectURI(
            host: host, ports: ports, path: "\(registeredPath)/\(digest)", query: registeredQuery)
    }

    /// The path of the callback; for an empty path, browsers request `/` (RFC 9110 §4.2.3).
    var path: String { registeredPath.isEmpty ? "/" : registeredPath }

    /// The registered query, with which the query of the callback begins; nil if none is registered.
    var query: String? { registeredQuery }

    /// Returns the value of `Host` that a browser sends for a port (RFC 9110 §7.2).
    func authority(port: Int) -> String { port == 80 ? host.rawValue : "\(host.rawValue):\(port)" }

    /// Returns the redirect URI with a port; all other parts are the registered ones, byte for byte.
    func redirectURI(port: Int) throws(RedirectURI.Refusal) -> RedirectURI {
        try RedirectURI("http://\(host.rawValue):\(port)\(rest)")
    }

    /// The registered redirect URI, with the first of the ports if there are any.
    public var description: String {
        "http://\(host.rawValue)" + (ports.first.map { ":\($0)" } ?? "") + rest
    }

    private var rest: String { registeredPath + (registeredQuery.map { "?\($0)" } ?? "") }
}
