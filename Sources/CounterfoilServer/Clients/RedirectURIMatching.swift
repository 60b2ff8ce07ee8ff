public import CounterfoilProtocol

/// The one rule by which a requested redirect URI is compared with the registered ones.
///
/// RFC 6749 §3.1.2.3 and RFC 8252 §8.4: simple string comparison of the bytes that were registered (RFC 3986 §6.2.1), except
/// the port of a loopback URI, which is the application's to choose (RFC 8252 §7.3).
public enum RedirectURIMatching {
    /// Whether a requested URI is the registered one.
    public static func matches(registered: RedirectURI, requested: RedirectURI) -> Bool {
        guard case .loopback(let registeredHost, _) = registered.kind,
            case .loopback(let requestedHost, _) = requested.kind
        else { return registered.rawValue == requested.rawValue }
        // `localhost` and the literals never stand for each other.
        return registeredHost == requestedHost && registered.uri.withoutPort == requested.uri.withoutPort
    }

    /// Why a request gets no redirect URI.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// None of the registered ones matches.
        case notRegistered
        /// It was left out, and not exactly one is registered.
        case ambiguous
        /// It was left out in a request for `openid` (OpenID Connect Core §3.1.2.1).
        case requiredByOpenID
        /// It was left out, and the registered one is a loopback address whose port nobody knows.
        case portUnknown
        /// It is an address of this server itself.
        case ownOrigin

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .notRegistered: "the redirect_uri of the request is not registered for this application"
            case .ambiguous: "the request has no redirect_uri, and not exactly one is registered for this application"
            case .requiredByOpenID: "the request has no redirect_uri, which a request for openid must have"
            case .portUnknown:
                "the request has no redirect_uri, and the registered one is a loopback address without a port"
            case .ownOrigin: "the redirect_uri of the request is an address of this server itself"
            }
        }
    }

    /// The redirect URI that a request means.
    public static func resolve(
        requested: RedirectURI?,
        registered: [RedirectURI],
        asksForOpenID: Bool,
        issuer: Issuer
    ) throws(Refusal) -> RedirectURI {
        guard let requested else {
            guard registered.count == 1, let only = registered.first else { throw .ambiguous }
            guard !asksForOpenID else { throw .requiredByOpenID }
            if case .loopback(_, port: nil) = only.kind { throw .portUnknown }
            guard !isOwnOrigin(only, of: issuer) else { throw .ownOrigin }
            return only
        }
        guard registered.contains(where: { matches(registered: $0, requested: requested) }) else {
            throw .notRegistered
        }
        guard !isOwnOrigin(requested, of: issuer) else { throw .ownOrigin }
        return requested
    }

    /// Whether a URI leads to the server itself, by whatever name of the device.
    public static func isOwnOrigin(_ uri: RedirectURI, of issuer: Issuer) -> Bool {
        switch uri.kind {
        case .privateUseScheme: false
        case .loopback(_, let port): issuer.isLoopback && (port ?? 80) == issuer.port
        case .https(let host):
            issuer.isSecure && canonical(host) == canonical(issuer.host) && (uri.uri.port ?? 443) == issuer.port
        }
    }

    /// A host name in lower case and without the dot that means the root.
    private static func canonical(_ host: String) -> String {
        let lowered = host.lowercased()
        return lowered.hasSuffix(".") ? String(lowered.dropLast()) : lowered
    }
}
