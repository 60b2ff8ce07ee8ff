public import CounterfoilProtocol
import HTTPTypes

/// A second origin of the server, with the callback addresses of native clients and their association files and nothing else.
///
/// An app that is associated with a host may do more there than open links: on Apple's platforms it may fill in the passwords of the
/// host, and on Android it may open every address. Nobody signs in at this origin, so an association gives nothing away.
public struct CallbackOrigin: Sendable, Hashable {
    /// The origin, `https://` and a host name.
    public let rawValue: String
    /// The host name, in lower case.
    let host: String

    /// The reason why a text is not such an origin.
    public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// It is not `https://` and a host name.
        case form
        /// Its host is that of the issuer, where people sign in.
        case hostOfIssuer

        /// The reason and the remedy, safe to show.
        public var description: String {
            switch self {
            case .form:
                "a callback origin is https:// and a host name in lower case, without port and path, such as "
                    + "https://cb.example.com"
            case .hostOfIssuer:
                "its host is that of the issuer, where people sign in; choose a host name that serves nothing else"
            }
        }
    }

    /// Checks an origin; association files are for the usual port of a host only, so it has no port.
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

    /// Whether a URI leads there, by whatever port: the origin is told by its host alone.
    func holds(_ uri: RedirectURI) -> Bool {
        guard case .https(let host) = uri.kind else { return false }
        return DomainName.canonical(host) == self.host
    }
}

/// The origin that a request was sent to.
enum RequestedOrigin: Sendable, Hashable {
    /// That of the issuer, or any while there is one origin only.
    case issuer
    /// The second one, for callback addresses.
    case callback
    /// None that the server has.
    case other
}

extension ServerSettings {
    /// The origin that a request was sent to, by its `Host` field (RFC 9110 §7.2).
    ///
    /// While there is one origin only, the name by which a proxy reaches the server does not matter. With two of them it decides
    /// what a browser may see, so every other name is refused.
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
