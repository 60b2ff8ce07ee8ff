package import CounterfoilProtocol
package import CounterfoilStore

/// The rules for registering a redirect URI (RFC 8252 §7 and §8.4, RFC 9700 §2.1).
///
/// A URI that breaks a rule is refused. A URI that follows the rules but may cause problems gets a warning. The
/// console and the command line both use these rules.
package enum RedirectURIRegistration {
    /// The maximum size of a registered URI in bytes.
    package static let byteLimit = 2048
    /// The maximum number of redirect URIs of one client.
    package static let limit = 20

    /// Decides whether a text may be registered as a redirect URI.
    package static func verdict(on text: String, for context: RedirectURIContext) -> RedirectURIVerdict {
        do {
            let uri = try checked(text, for: context)
            return .accepted(uri, warnings: warnings(of: uri, for: context))
        } catch { return .refused(error) }
    }

    /// Checks a URI for a client of a given type, without regard to the other properties of the client.
    package static func check(
        _ text: String, issuer: Issuer?, type: ClientType = .native
    ) throws(Refusal) -> RedirectURI {
        try checked(text, for: RedirectURIContext(type: type, issuer: issuer))
    }

    /// Returns true if a client can receive logout notifications at a URI: it has the scheme https, a host name, no
    /// user information and no fragment (OpenID Connect Back-Channel Logout §2.2).
    ///
    /// The sender checks the IP addresses of the host at each delivery, because they can change.
    static func isBackchannelLogoutURI(_ address: AbsoluteURI) -> Bool {
        address.scheme.lowercased() == "https" && address.userInformation == nil && address.fragment == nil
            && address.host.map { DomainName.isValid(DomainName.canonical($0)) } ?? false
            && address.rawValue.utf8.count <= byteLimit
    }

    private static func checked(_ text: String, for context: RedirectURIContext) throws(Refusal) -> RedirectURI {
        guard context.type != .service else { throw .noneForServices }
        guard text.utf8.count <= byteLimit else { throw .tooLong }
        guard !text.utf8.contains(UInt8(ascii: "*")) else { throw .wildcard }
        let uri: RedirectURI
        do {
            uri = try RedirectURI(text)
        } catch {
            if error == .insecure, let host = loopbackHost(for: text) { throw .otherLoopbackAddress(host) }
            throw .malformed(error)
        }
        try checkQuery(uri)
        switch uri.kind {
        case .loopback:
            // RFC 8252 §7.3, RFC 9700 §2.6: only clients that run on the user's device may have http URIs. Web and
            // single-page clients may have them during development.
            if uri.isForDevelopment(of: context.type) { try checkDevelopment(context) }
        case .privateUseScheme(let scheme):
            guard context.type.runsOnTheDevice else { throw .schemeNotNative }
            try PrivateUseScheme.check(scheme, of: uri, for: context)
        case .https(let host):
            try checkHost(host)
        }
        if namesOwnOrigin(uri, for: context) { throw .ownOrigin }
        guard !uri.uri.hasDotSegments else { throw .dotSegments }
        return uri
    }

    /// Returns the loopback host to write in place of another spelling of `[::1]` or another address of 127.0.0.0/8;
    /// nil if the host of the URI is neither.
    private static func loopbackHost(for text: String) -> LoopbackHost? {
        guard let host = (try? AbsoluteURI(parsing: text))?.host else { return nil }
        if host.contains(":") {
            let significant = host.filter { $0 != "0" && $0 != ":" }
            return significant == "[1]" && host.hasSuffix("1]") ? .ipv6 : nil
        }
        let isNumeric = host.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
        }
        return isNumeric && host.hasPrefix("127.") ? .ipv4 : nil
    }

    /// Refuses a development redirect URI if the server does not allow them, or if the client is first-party.
    ///
    /// Users are not asked for consent to a first-party client, but a development redirect URI always needs consent.
    private static func checkDevelopment(_ context: RedirectURIContext) throws(Refusal) {
        guard context.allowsDevelopment else { throw .developmentOff }
        guard !context.isFirstParty else { throw .developmentOfFirstParty }
    }

    /// Refuses query parameters with the names of authorization response parameters.
    ///
    /// The names are those of all response types, including the types that this server does not support (RFC 6749
    /// §4.1.2 and §4.2.2, RFC 9207 §2, JARM §2.3). With such a parameter, the redirect would contain two values of
    /// the same name, and the client could read the value of the redirect URI instead of that of the response.
    private static func checkQuery(_ uri: RedirectURI) throws(Refusal) {
        guard let query = uri.uri.query else { return }
        guard let form = try? FormParameters(parsing: query) else { throw .badQuery }
        let reserved: Set<String> = [
            "access_token", "code", "expires_in", "id_token", "iss", "response", "session_state", "state", "token_type",
        ]
        if let pair = form.pairs.first(where: { reserved.contains($0.name) || $0.name.hasPrefix("error") }) {
            throw .reservedParameter(pair.name)
        }
    }

    /// Checks that a host is a domain name that browsers interpret in the same way as this server.
    ///
    /// Browsers decode percent-escapes in a host, and they interpret a numeric host as an IPv4 address.
    private static func checkHost(_ host: String) throws(Refusal) {
        let name = DomainName.canonical(host)
        guard !name.hasPrefix("[::1]"), name != "localhost", !name.hasSuffix(".localhost"), !name.hasPrefix("127.")
        else {
            throw .httpsOnTheDevice
        }
        guard !name.hasPrefix("["), !DomainName.isNumeric(name) else { throw .ipAddressInsteadOfName }
        guard DomainName.isValid(name) else { throw .badHost }
    }

    /// Returns true if a URI leads to this server itself and is not the callback URL of the client.
    ///
    /// A loopback URI without a port is not refused here. Each authorization request adds a port to it, and the
    /// authorization endpoint checks the resulting URI.
    private static func namesOwnOrigin(_ uri: RedirectURI, for context: RedirectURIContext) -> Bool {
        if case .loopback(_, port: nil) = uri.kind { return false }
        let own = ServerOrigins(issuer: context.issuer, callbackOrigin: context.callbackOrigin)
        return own?.forbids(uri, to: context.clientID, type: context.type) ?? false
    }

    private static func warnings(of uri: RedirectURI, for context: RedirectURIContext) -> [RedirectURIWarning] {
        var warnings: [RedirectURIWarning] = []
        switch uri.kind {
        case .loopback(_, let port) where uri.isForDevelopment(of: context.type):
            warnings.append(.development(port: port))
        case .loopback(let host, let port):
            // RFC 8252 §8.3: the loopback IP literals are preferred to localhost.
            if host == .localhost { warnings.append(.localhost) }
            if let port { warnings.append(.portIgnored(port)) }
        case .privateUseScheme(let scheme):
            warnings += PrivateUseScheme.warnings(of: scheme, in: uri, for: context)
        case .https:
            if context.type == .native { warnings.append(.claimed) }
        }
        let written = uri.uri.scheme + (uri.uri.host ?? "")
        if written != written.lowercased() { warnings.append(.upperCase) }
        return warnings
    }
}

extension ClientType {
    /// Whether clients of this type run on the user's device, where they can open a port or claim a URI scheme.
    fileprivate var runsOnTheDevice: Bool {
        switch self {
        case .native, .device: true
        case .singlePage, .web, .service: false
        }
    }
}
