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
