import CounterfoilProtocol

extension ClientConnection {
    /// Returns the first redirect URI that fulfils a condition, or else the first one.
    func redirectURI(preferring isPreferred: (RedirectURI) -> Bool) -> RedirectURI? {
        redirectURIs.first(where: isPreferred) ?? redirectURIs.first
    }

    /// The redirect URIs of a kind that a native library can receive: claimed https and private-use schemes.
    var appRedirectURI: RedirectURI? {
        redirectURIs.first { uri in
            switch uri.kind {
            case .privateUseScheme, .https: true
            case .loopback: false
            }
        }
    }

    /// The first loopback redirect URI (RFC 8252 §7.3).
    var loopbackRedirectURI: RedirectURI? {
        redirectURIs.first { uri in if case .loopback = uri.kind { true } else { false } }
    }
}

extension RedirectURI {
    /// The scheme, the host and the port, without the path: the base URL of a web application.
    var base: String {
        uri.scheme + "://" + (uri.host ?? "") + (uri.port.map { ":\($0)" } ?? "")
    }

    /// The path under which a web application receives the authorization response; `/` if it is empty.
    var route: String { uri.path.isEmpty ? "/" : uri.path }
}

/// The socket on which a native app receives the authorization response (RFC 8252 §7.3).
struct LoopbackReceiver: Sendable {
    /// The address to listen on, without brackets.
    let address: String
    let isIPv6: Bool
    /// The port to listen on; 0 for any, because the server accepts every port.
    let port: Int
    /// The scheme and the host of the redirect URI, without the port.
    let origin: String
    /// The path and the query of the redirect URI, as registered.
    let target: String
    /// The path of the redirect URI; `/` if it is empty.
    let path: String
}

extension RedirectURI {
    /// The socket for this URI; nil unless it is a loopback redirect URI.
    var loopbackReceiver: LoopbackReceiver? {
        guard case .loopback(let host, let port) = kind else { return nil }
        return LoopbackReceiver(
            address: host == .ipv6 ? "::1" : "127.0.0.1", isIPv6: host == .ipv6, port: port ?? 0,
            origin: "http://" + host.rawValue, target: uri.path + (uri.query.map { "?\($0)" } ?? ""), path: route)
    }
}
