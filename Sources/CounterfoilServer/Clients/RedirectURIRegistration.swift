public import CounterfoilProtocol

/// What a redirect URI must be to be registered.
///
/// RFC 8252 §8.4 and RFC 9700 §4.1: what could never be safe is refused before it can do harm.
public enum RedirectURIRegistration {
    /// Why a URI is not registered.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is not a redirect URI at all.
        case malformed(RedirectURI.Refusal)
        /// Its query names a parameter of the authorization response.
        case reservedParameter(String)
        /// Its query cannot be read.
        case badQuery
        /// It leads to this server itself.
        case ownOrigin
        /// Its scheme is no reversed domain name (RFC 8252 §7.1 and §8.4).
        case schemeWithoutPeriod(String)
        /// Its private-use scheme is followed by `//` (RFC 8252 §7.1).
        case schemeWithAuthority
        /// It holds an asterisk, which elsewhere stands for anything.
        case wildcard

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .malformed(let refusal): "\(refusal)"
            case .reservedParameter(let name):
                "its query has a parameter \(name), which belongs to the answer of the server; choose another name"
            case .badQuery: "its query is not correctly encoded"
            case .ownOrigin: "it is an address of this server itself, which can never receive an answer"
            case .schemeWithoutPeriod(let scheme):
                "the scheme \(scheme): could be anybody's; use a domain name of yours in reverse, such as com.example.app:/callback"
            case .schemeWithAuthority:
                "a scheme of an application is followed by a single slash: com.example.app:/callback"
            case .wildcard: "it holds a *; every address is registered whole"
            }
        }
    }

    /// A URI that may be registered.
    public static func check(_ text: String, issuer: Issuer?) throws(Refusal) -> RedirectURI {
        guard !text.contains("*") else { throw .wildcard }
        let uri: RedirectURI
        do { uri = try RedirectURI(text) } catch { throw .malformed(error) }
        try checkQuery(uri)
        if case .privateUseScheme(let scheme) = uri.kind {
            guard scheme.contains(".") else { throw .schemeWithoutPeriod(scheme) }
            guard !uri.uri.hasAuthority else { throw .schemeWithAuthority }
        }
        if let issuer, namesOwnOrigin(uri, of: issuer) { throw .ownOrigin }
        return uri
    }

    /// A loopback URI without a port leaves the port free; only a written one can be the server's own.
    private static func namesOwnOrigin(_ uri: RedirectURI, of issuer: Issuer) -> Bool {
        if case .loopback(_, port: nil) = uri.kind { return false }
        return RedirectURIMatching.isOwnOrigin(uri, of: issuer)
    }

    private static func checkQuery(_ uri: RedirectURI) throws(Refusal) {
        guard let query = uri.uri.query else { return }
        guard let form = try? FormParameters(parsing: query) else { throw .badQuery }
        let reserved: Set<String> = ["code", "state", "iss", "error", "error_description", "error_uri", "response"]
        if let pair = form.pairs.first(where: { reserved.contains($0.name) }) { throw .reservedParameter(pair.name) }
    }
}
