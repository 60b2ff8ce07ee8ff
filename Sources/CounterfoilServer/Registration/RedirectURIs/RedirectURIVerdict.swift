public import CounterfoilProtocol

/// What is said of a redirect URI that somebody wants to register.
public enum RedirectURIVerdict: Sendable, Hashable {
    /// It may be registered; what is unwise about it is said.
    case accepted(RedirectURI, warnings: [RedirectURIWarning])
    /// It may not.
    case refused(RedirectURIRegistration.Refusal)
}

/// What a verdict depends on beside the address itself.
public struct RedirectURIContext: Sendable, Hashable {
    /// What the application is.
    public var type: ClientType
    /// Its identifier; nil before it has one.
    public var clientID: ClientIdentifier?
    /// The server; nil before it has ever been started, when its own origin is not known yet.
    public var issuer: Issuer?
    /// The second origin of the server, for callback addresses; nil where it has none.
    public var callbackOrigin: CallbackOrigin?
    /// Schemes without a period that are taken all the same, in lower case.
    public var plainSchemes: Set<String>
    /// The bundle identifiers and package names that the application has.
    public var appNames: Set<String>
    /// The schemes of the other applications of its owner, in lower case.
    public var schemesInUse: Set<String>

    /// Makes a context.
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

    /// The schemes of applications, as ``schemesInUse`` wants them.
    public static func schemes(of clients: some Sequence<RegisteredClient>) -> Set<String> {
        var schemes: Set<String> = []
        for uri in clients.lazy.flatMap(\.redirectURIs) {
            if case .privateUseScheme(let scheme) = uri.kind { schemes.insert(scheme.lowercased()) }
        }
        return schemes
    }
}

/// Something about an accepted redirect URI that its developer should know.
public enum RedirectURIWarning: Sendable, Hashable {
    /// `localhost`, which need not lead to the device (RFC 8252 §8.3).
    case localhost
    /// A port of a loopback address, which any other port matches as well (RFC 8252 §7.3).
    case portIgnored(Int)
    /// A scheme of more characters than Windows takes (RFC 8252 appendix B.3).
    case longScheme(String)
    /// A scheme that is none of the bundle identifiers and package names (RFC 8252 §7.1).
    case notAnAppName(String)
    /// A scheme that another application of the same owner has (RFC 8252 §7.1).
    case schemeInUse(String)
    /// A scheme without a period, taken because an operator allows it.
    case plainScheme(String)
    /// A scheme that looks like a domain name that was not reversed.
    case perhapsNotReversed(String)
    /// Capital letters in a scheme or host, which browsers write small.
    case upperCase
    /// An https address of a native application, which is its own only when an administrator has verified it.
    case claimed

    /// Whether it only informs; otherwise something may go wrong.
    public var isNote: Bool {
        switch self {
        case .portIgnored, .notAnAppName, .claimed: true
        case .localhost, .longScheme, .schemeInUse, .plainScheme, .perhapsNotReversed, .upperCase: false
        }
    }

    /// What it is and what to do.
    public var text: Text {
        switch self {
        case .localhost: Text(RedirectURIPhrase.localhost)
        case .portIgnored(let port): Text(RedirectURIPhrase.portIgnored, ["port": .number(port)])
        case .longScheme(let scheme):
            Text(RedirectURIPhrase.longScheme, ["length": .number(scheme.utf8.count)])
        case .notAnAppName(let scheme): Text(.notAnAppName, scheme: scheme)
        case .schemeInUse(let scheme): Text(.schemeInUse, scheme: scheme)
        case .plainScheme(let scheme): Text(.plainScheme, scheme: scheme)
        case .perhapsNotReversed(let scheme): Text(.perhapsNotReversed, scheme: scheme)
        case .upperCase: Text(RedirectURIPhrase.upperCase)
        case .claimed: Text(RedirectURIPhrase.claimed)
        }
    }
}

extension RedirectURIRegistration {
    /// Why a URI is not registered.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is not a redirect URI at all.
        case malformed(RedirectURI.Refusal)
        /// It has more than ``RedirectURIRegistration/byteLimit`` bytes.
        case tooLong
        /// It holds an asterisk, which elsewhere stands for anything.
        case wildcard
        /// Its path has a segment `.` or `..`, which browsers remove (RFC 3986 §6.2.2.3).
        case dotSegments
        /// Its query cannot be read.
        case badQuery
        /// Its query names a parameter of an authorization response.
        case reservedParameter(String)
        /// It leads to this server itself.
        case ownOrigin
        /// Its host is not a domain name.
        case badHost
        /// Its host is an IP address.
        case addressInsteadOfName
        /// It is an https address of the device itself.
        case httpsOnTheDevice
        /// It is an http address of the device itself, and the application does not run there (RFC 8252 §7.3).
        case loopbackNotNative
        /// It has a scheme of its own, and the application is none that could own it (RFC 8252 §7.1).
        case schemeNotNative
        /// The application is of a type that has no redirect URIs.
        case noneForServices
        /// Its scheme has no period (RFC 8252 §8.4).
        case schemeWithoutPeriod(String)
        /// Its scheme is no reversed domain name (RFC 8252 §7.1).
        case schemeNotADomainName(String)
        /// Its scheme is registered for something else (RFC 8252 §7.1).
        case registeredScheme(String)
        /// Its private-use scheme is not followed by exactly one slash (RFC 8252 §7.1).
        case notASingleSlash

        /// What is wrong and how to mend it.
        public var text: Text {
            switch self {
            case .malformed(let refusal): refusal.text
            case .tooLong:
                Text(RedirectURIPhrase.tooLong, ["limit": .number(RedirectURIRegistration.byteLimit)])
            case .wildcard: Text(RedirectURIPhrase.wildcard)
            case .dotSegments: Text(RedirectURIPhrase.dotSegments)
            case .badQuery: Text(RedirectURIPhrase.badQuery)
            case .reservedParameter(let name):
                Text(RedirectURIPhrase.reservedParameter, ["name": .text(String(name.prefix(100)))])
            case .ownOrigin: Text(RedirectURIPhrase.ownOrigin)
            case .badHost: Text(RedirectURIPhrase.badHost)
            case .addressInsteadOfName: Text(RedirectURIPhrase.addressInsteadOfName)
            case .httpsOnTheDevice: Text(RedirectURIPhrase.httpsOnTheDevice)
            case .loopbackNotNative: Text(RedirectURIPhrase.loopbackNotNative)
            case .schemeNotNative: Text(RedirectURIPhrase.schemeNotNative)
            case .noneForServices: Text(RedirectURIPhrase.noneForServices)
            case .schemeWithoutPeriod(let scheme): Text(.schemeWithoutPeriod, scheme: scheme)
            case .schemeNotADomainName(let scheme): Text(.schemeNotADomainName, scheme: scheme)
            case .registeredScheme(let scheme): Text(.registeredScheme, scheme: scheme)
            case .notASingleSlash: Text(RedirectURIPhrase.notASingleSlash)
            }
        }

        /// What is wrong and how to mend it, in English.
        public var description: String { Words.english(text) }
    }
}
