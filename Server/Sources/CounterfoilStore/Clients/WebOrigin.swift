@_spi(Counterfoil) public import CounterfoilProtocol

/// The origin of a script in a browser: scheme, host and port, such as `https://app.example.com` (RFC 6454).
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The origin as a browser writes it in the `Origin` header field.
    public let rawValue: String
    /// The loopback host of an http origin; nil for an https origin.
    package let loopbackHost: LoopbackHost?

    /// Parses an origin; nil unless it is in lower case, has no path, and uses https (or http with a loopback
    /// host).
    ///
    /// An explicit default port is not valid, because browsers omit it from the `Origin` header field. A wildcard
    /// is not valid either.
    public init?(_ text: String) {
        guard let uri = try? AbsoluteURI(parsing: text), let host = uri.host, Self.isHost(host),
            text == text.lowercased(), uri.userInformation == nil, uri.query == nil, uri.fragment == nil,
            uri.path.isEmpty
        else { return nil }
        switch uri.scheme {
        case "https" where uri.port != 443: loopbackHost = nil
        case "http" where uri.port != 80:
            guard let loopback = LoopbackHost(rawValue: host) else { return nil }
            loopbackHost = loopback
        default: return nil
        }
        rawValue = text
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }

    /// Returns true if a browser can write the host in an `Origin` header field: a host name or an IP literal.
    private static func isHost(_ host: String) -> Bool {
        host.hasPrefix("[") || (!host.isEmpty && host.utf8.allSatisfy(\.isUnreserved))
    }
}

/// An origin from which a single-page application may send requests, as it is registered.
///
/// The written form of a single origin is that of ``WebOrigin``. The written form of every port of a loopback host is
/// `http://localhost:*`.
public enum RegisteredOrigin: Sendable, Hashable, CustomStringConvertible {
    /// One origin.
    case exact(WebOrigin)
    /// The http origins of a loopback host with any port, for development on the device of the developer.
    case anyPort(LoopbackHost)

    /// Parses the written form; nil if it is not valid.
    public init?(_ text: String) {
        if let host = LoopbackHost.allCases.first(where: { Self.anyPort($0).rawValue == text }) {
            self = .anyPort(host)
        } else if let origin = WebOrigin(text) {
            self = .exact(origin)
        } else {
            return nil
        }
    }

    /// Derives the origin of the page at a redirect URI; nil if the URI has a private-use scheme.
    ///
    /// A loopback URI without a port matches any port (RFC 8252 §7.3), and so does its origin.
    package init?(of redirectURI: RedirectURI) {
        switch redirectURI.kind {
        case .privateUseScheme: return nil
        case .loopback(let host, port: nil): self = .anyPort(host)
        case .loopback(let host, let port?):
            self.init("http://\(host.rawValue)" + (port == 80 ? "" : ":\(port)"))
        case .https(let host):
            let port = redirectURI.uri.port.flatMap { $0 == 443 ? nil : ":\($0)" }
            self.init("https://\(host.lowercased())\(port ?? "")")
        }
    }

    /// The written form, which stores keep and pages show.
    public var rawValue: String {
        switch self {
        case .exact(let origin): origin.rawValue
        case .anyPort(let host): "http://\(host.rawValue):*"
        }
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }

    /// Whether the origin stands for every port of its host.
    package var isAnyPort: Bool {
        switch self {
        case .exact: false
        case .anyPort: true
        }
    }

    /// Returns true if the origin of a request is this origin, or one of those that it stands for.
    public func covers(_ origin: WebOrigin) -> Bool {
        switch self {
        case .exact(let registered): registered == origin
        case .anyPort(let host): origin.loopbackHost == host
        }
    }
}

extension WebOrigin {
    /// The registered origins that cover this origin: the origin itself and, on a loopback host, any port.
    public var covering: [RegisteredOrigin] {
        [.exact(self)] + (loopbackHost.map { [.anyPort($0)] } ?? [])
    }
}

extension [RegisteredOrigin] {
    /// Derives the origins of a single-page application from its redirect URIs, each once.
    package init(of redirectURIs: [RedirectURI]) {
        self = []
        for origin in redirectURIs.compactMap(RegisteredOrigin.init(of:)) where !contains(origin) { append(origin) }
    }
}

extension RegisteredClient {
    /// Returns true if scripts of an origin may read the responses to requests of this client (Fetch §3.2).
    package func allows(_ origin: WebOrigin) -> Bool { origins.contains { $0.covers(origin) } }
}
