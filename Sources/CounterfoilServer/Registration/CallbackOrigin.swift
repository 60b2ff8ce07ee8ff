public import CounterfoilProtocol
import HTTPTypes

/// A second origin of the server, with the callback URLs of native clients and their association files and
/// nothing else.
///
/// An app that is associated with a host may do more there than open links. On Apple's platforms it may
/// fill in the passwords of the host, and on Android it may open every URL of it. No user signs in at this
/// origin, so an association reveals nothing.
public struct CallbackOrigin: Sendable, Hashable {
    /// The origin: `https://` and a host name.
    public let rawValue: String
    /// The host name, in lower case.
    let host: String

    /// The reason why a text is not such an origin.
    public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// It is not `https://` and a host name.
        case form
        /// Its host is that of the issuer, where users sign in.
        case hostOfIssuer

        /// The reason and the remedy, safe to show.
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

    /// Parses an origin; it has no port, because association files apply to the default port of a host only.
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

    /// Returns true if a URI leads to this origin, at any port: the server recognizes the origin by its host alone.
    func holds(_ uri: RedirectURI) -> Bool {
        guard case .https(let host) = uri.kind else { return false }
        return DomainName.canonical(host) == self.host
    }
}

/// The origin that a request was sent to.
enum RequestedOrigin: Sendable, Hashable {
    /// The origin of the issuer, or any while the server has only one.
    case issuer
    /// The second origin, for callback URLs.
    case callback
    /// An origin that the server does not have.
    case other
}

extension ServerSettings {
    /// The origin that a request was sent to, by its `Host` field (RFC 9110 §7.2).
    ///
    /// While there is only one origin, the host name in the request does not matter. With two origins it
    /// decides which pages are served, so every other name is refused.
    func origin(of request: HTTPRequest) -> RequestedOrigin {
        guard let callbackOrigin else { return .issuer }
        guard let authority = request.authority else { return .other }
        let host = DomainName.canonical(Self.withoutPort(authority))
        if host == callbackOrigin.host { return .callback }
        return host == DomainName.canonical(issuer.host) ? .issuer : .other
    }

    private static func withoutPort(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":"),
            authority[authority.index(after: colon)...].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return authority }
        return String(authority[..<colon])
    }
}
