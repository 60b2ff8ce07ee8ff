public import CounterfoilProtocol
import CounterfoilStore
public import HTTPTypes

/// A second origin of the server, only for the callback URLs of native clients and the association files.
///
/// Associating an app with a host permits more than opening the callback URL. On Apple's platforms, the app may
/// fill in the passwords that users have saved for the host. On Android, the app may open every URL of the
/// host. No user signs in at this second origin, so an associated app gets no passwords or sign-in pages.
public struct CallbackOrigin: Sendable, Hashable {
    /// The origin as text: `https://` and a host name in lower case, without a port or path.
    public let rawValue: String
    /// The host name in lower case, without the trailing dot of the DNS root.
    public let host: String

    /// The reason why a text cannot be used as a callback origin.
    public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The text is not `https://` followed by only a host name in lower case with at least one period.
        case form
        /// The host is also the host of the issuer, where users sign in.
        case hostOfIssuer

        /// The reason and the remedy, safe to show: the text does not repeat the rejected value.
        public var description: String {
            switch self {
            case .form:
                "a callback origin is https:// and a host name in lower case, without a port or path, such as "
                    + "https://cb.example.com"
            case .hostOfIssuer:
                "the issuer has the same host, where users sign in; choose a host name that serves nothing else"
            }
        }
    }

    /// Parses a callback origin; a port is refused, because association files apply only to the default port.
    public init(_ text: String, issuer: Issuer) throws(Refusal) {
        guard text.hasPrefix("https://") else { throw .form }
        let host = String(text.dropFirst("https://".count))
        guard DomainName.canonical(host) == host, DomainName.isValid(host), host.contains("."),
            !DomainName.isNumeric(host), !host.hasSuffix(".localhost")
        else { throw .form }
        guard host != DomainName.canonical(issuer.host) else { throw .hostOfIssuer }
        rawValue = text
        self.host = host
    }

    /// Returns true if a URI has the host of this origin, at any port.
    ///
    /// The port does not matter, because the server recognizes a request to this origin by the host name alone.
    func holds(_ uri: RedirectURI) -> Bool {
        guard case .https(let host) = uri.kind else { return false }
        return DomainName.canonical(host) == self.host
    }
}

/// The origin that a request was sent to, according to its `Host` field.
enum RequestedOrigin: Sendable, Hashable {
    /// The origin of the issuer; without a callback origin, every request counts as sent to it.
    case issuer
    /// The callback origin, which serves only callback URLs, association files and health checks.
    case callback
    /// Any other host, or none; the server refuses the request unless it is a health check.
    case other
}

extension ServerSettings {
    /// Returns the origin that a request was sent to, according to its `Host` field (RFC 9110 §7.2).
    ///
    /// If the server has no callback origin, any host name is accepted. If it has one, the host name decides which
    /// endpoints are served, so requests with any other host name are refused.
    func origin(of request: HTTPRequest) -> RequestedOrigin {
        guard let callbackOrigin else { return .issuer }
        guard let authority = request.authority else { return .other }
        let host = DomainName.canonical(Self.withoutPort(authority))
        if host == callbackOrigin.host { return .callback }
        return host == DomainName.canonical(issuer.host) ? .issuer : .other
    }

    /// Returns the origin of this server that a request names by its host; that of the issuer for any other host.
    public func publicOrigin(for request: HTTPRequest) -> String {
        if let callbackOrigin, origin(of: request) == .callback { return callbackOrigin.rawValue }
        return issuer.origin
    }

    private static func withoutPort(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":"),
            authority[authority.index(after: colon)...].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return authority }
        return String(authority[..<colon])
    }
}
