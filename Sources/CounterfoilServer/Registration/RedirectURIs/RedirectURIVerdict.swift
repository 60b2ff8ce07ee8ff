public import CounterfoilProtocol

/// The decision about a redirect URI that is to be registered.
public enum RedirectURIVerdict: Sendable, Hashable {
    /// It may be registered, with warnings about what is unwise.
    case accepted(RedirectURI, warnings: [RedirectURIWarning])
    /// It may not be registered.
    case refused(RedirectURIRegistration.Refusal)
}

/// The context of a verdict, beside the URI itself.
public struct RedirectURIContext: Sendable, Hashable {
    /// The type of the client.
    public var type: ClientType
    /// The identifier of the client; nil before it has one.
    public var clientID: ClientIdentifier?
    /// The server; nil before its first start, when its own origin is not known yet.
    public var issuer: Issuer?
    /// The second origin of the server, for callback URLs; nil if it has none.
    public var callbackOrigin: CallbackOrigin?
    /// The schemes without a period that are allowed nevertheless, in lower case.
    public var plainSchemes: Set<String>
    /// The bundle identifiers and package names of the client's apps.
    public var appNames: Set<String>
    /// The schemes of the owner's other clients, in lower case.
    public var schemesInUse: Set<String>

    /// Creates a context.
    public init(
        type: ClientType,
        clientID: ClientIdentifier? = nil,
        issuer: Issuer? = nil,
        callbackOrigin: CallbackOrigin? = nil,
        plainSchemes: Set<String> = ServerSettings.standardPlainSchemes,
        appNames: Set<String> = [],
        schemesInUse: Set<String> = []
    ) {
        self.type = type
        self.clientID = clientID
        self.issuer = issuer
        self.callbackOrigin = callbackOrigin
        self.plainSchemes = plainSchemes
        self.appNames = appNames
        self.schemesInUse = schemesInUse
    }

    /// Collects the schemes of clients for ``schemesInUse``.
    public static func schemes(of clients: some Sequence<RegisteredClient>) -> Set<String> {
        var schemes: Set<String> = []
        for uri in clients.lazy.flatMap(\.redirectURIs) {
            if case .privateUseScheme(let scheme) = uri.kind { schemes.insert(scheme.lowercased()) }
        }
        return schemes
    }
}

/// A warning about an accepted redirect URI, for its developer.
public enum RedirectURIWarning: Sendable, Hashable {
    /// `localhost`, which need not resolve to the device (RFC 8252 §8.3).
    case localhost
    /// The port of a loopback URI; a request may use any other port too (RFC 8252 §7.3).
    case portIgnored(Int)
    /// A scheme with more characters than Windows supports (RFC 8252 appendix B.3).
    case longScheme(String)
    /// A scheme that is not one of the bundle identifiers and package names (RFC 8252 §7.1).
    case notAnAppName(String)
    /// A scheme that another client of the same owner uses (RFC 8252 §7.1).
    case schemeInUse(String)
    /// A scheme that contains no period; the operator allows it.
    case plainScheme(String)
    /// A scheme that looks like a domain name that was not reversed.
    case perhapsNotReversed(String)
    /// Capital letters in a scheme or host, which browsers convert to lower case.
    case upperCase
    /// An https URI of a native client, whose claim an administrator has to verify.
    case claimed

    /// Whether it is only a note; otherwise it names a risk.
    public var isNote: Bool {
        switch self {
        case .portIgnored, .notAnAppName, .claimed: true
        case .localhost, .longScheme, .schemeInUse, .plainScheme, .perhapsNotReversed, .upperCase: false
        }
    }

    /// The warning and its remedy.
    public var text: LocalizedText {
        switch self {
        case .localhost: LocalizedText(RedirectURIPhrase.localhost)
        case .portIgnored(let port): LocalizedText(RedirectURIPhrase.portIgnored, ["port": .number(port)])
        case .longScheme(let scheme):
            LocalizedText(RedirectURIPhrase.longScheme, ["length": .number(scheme.utf8.count)])
        case .notAnAppName(let scheme): LocalizedText(.notAnAppName, scheme: scheme)
        case .schemeInUse(let scheme): LocalizedText(.schemeInUse, scheme: scheme)
        case .plainScheme(let scheme): LocalizedText(.plainScheme, scheme: scheme)
        case .perhapsNotReversed(let scheme): LocalizedText(.perhapsNotReversed, scheme: scheme)
        case .upperCase: LocalizedText(RedirectURIPhrase.upperCase)
        case .claimed: LocalizedText(RedirectURIPhrase.claimed)
        }
    }
}

extension RedirectURIRegistration {
    /// The reason why a URI is not registered.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is not a redirect URI at all.
        case malformed(RedirectURI.Refusal)
        /// It has more than ``RedirectURIRegistration/byteLimit`` bytes.
        case tooLong
        /// It contains an asterisk, which other servers read as a wildcard.
        case wildcard
        /// Its path has a segment `.` or `..`, which browsers remove (RFC 3986 §6.2.2.3).
        case dotSegments
        /// Its query is not form-encoded.
        case badQuery
        /// Its query names a parameter of an authorization response.
        case reservedParameter(String)
        /// It leads to this server itself.
        case ownOrigin
        /// Its host is not a domain name.
        case badHost
        /// Its host is an IP address.
        case addressInsteadOfName
        /// It is an https URI of the device itself.
        case httpsOnTheDevice
        /// It is an http URI of the device itself, and the client does not run there (RFC 8252 §7.3).
        case loopbackNotNative
        /// It has a private-use scheme, and a client of this type cannot own one (RFC 8252 §7.1).
        case schemeNotNative
        /// Clients of this type have no redirect URIs.
        case noneForServices
        /// Its scheme has no period (RFC 8252 §8.4).
        case schemeWithoutPeriod(String)
        /// Its scheme is not a reversed domain name (RFC 8252 §7.1).
        case schemeNotADomainName(String)
        /// Its scheme is registered for another purpose (RFC 8252 §7.1).
        case registeredScheme(String)
        /// Its private-use scheme is not followed by exactly one slash (RFC 8252 §7.1).
        case notASingleSlash

        /// The error and its remedy.
        public var text: LocalizedText {
            switch self {
            case .malformed(let refusal): refusal.text
            case .tooLong:
                LocalizedText(RedirectURIPhrase.tooLong, ["limit": .number(RedirectURIRegistration.byteLimit)])
            case .wildcard: LocalizedText(RedirectURIPhrase.wildcard)
            case .dotSegments: LocalizedText(RedirectURIPhrase.dotSegments)
            case .badQuery: LocalizedText(RedirectURIPhrase.badQuery)
            case .reservedParameter(let name):
                LocalizedText(RedirectURIPhrase.reservedParameter, ["name": .text(String(name.prefix(100)))])
            case .ownOrigin: LocalizedText(RedirectURIPhrase.ownOrigin)
            case .badHost: LocalizedText(RedirectURIPhrase.badHost)
            case .addressInsteadOfName: LocalizedText(RedirectURIPhrase.addressInsteadOfName)
            case .httpsOnTheDevice: LocalizedText(RedirectURIPhrase.httpsOnTheDevice)
            case .loopbackNotNative: LocalizedText(RedirectURIPhrase.loopbackNotNative)
            case .schemeNotNative: LocalizedText(RedirectURIPhrase.schemeNotNative)
            case .noneForServices: LocalizedText(RedirectURIPhrase.noneForServices)
            case .schemeWithoutPeriod(let scheme): LocalizedText(.schemeWithoutPeriod, scheme: scheme)
            case .schemeNotADomainName(let scheme): LocalizedText(.schemeNotADomainName, scheme: scheme)
            case .registeredScheme(let scheme): LocalizedText(.registeredScheme, scheme: scheme)
            case .notASingleSlash: LocalizedText(RedirectURIPhrase.notASingleSlash)
            }
        }

        /// ``text`` in English.
        public var description: String { Localizer.english(text) }
    }
}
