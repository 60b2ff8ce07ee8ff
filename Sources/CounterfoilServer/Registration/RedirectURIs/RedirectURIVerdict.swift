package import CounterfoilProtocol

/// The decision about a redirect URI that is to be registered.
package enum RedirectURIVerdict: Sendable, Hashable {
    /// It may be registered, with warnings about what is unwise.
    case accepted(RedirectURI, warnings: [RedirectURIWarning])
    /// It may not be registered.
    case refused(RedirectURIRegistration.Refusal)
}

/// The context of a verdict, beside the URI itself.
package struct RedirectURIContext: Sendable, Hashable {
    /// The type of the client.
    package var type: ClientType
    /// The identifier of the client; nil before it has one.
    package var clientID: ClientIdentifier?
    /// The server; nil before its first start, when its own origin is not known yet.
    package var issuer: Issuer?
    /// The second origin of the server, for callback URLs; nil if it has none.
    package var callbackOrigin: CallbackOrigin?
    /// The schemes without a period that are allowed nevertheless, in lower case.
    package var plainSchemes: Set<String>
    /// The bundle identifiers and package names of the client's apps.
    package var appNames: Set<String>
    /// The schemes of the owner's other clients, in lower case.
    package var schemesInUse: Set<String>

    /// Creates a context.
    package init(
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
    package static func schemes(of clients: some Sequence<RegisteredClient>) -> Set<String> {
        var schemes: Set<String> = []
        for uri in clients.lazy.flatMap(\.redirectURIs) {
            if case .privateUseScheme(let scheme) = uri.kind { schemes.insert(scheme.lowercased()) }
        }
        return schemes
    }
}

/// A warning about an accepted redirect URI, for its developer.
package enum RedirectURIWarning: Localized, Hashable {
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
    package var isNote: Bool {
        switch self {
        case .portIgnored, .notAnAppName, .claimed: true
        case .localhost, .longScheme, .schemeInUse, .plainScheme, .perhapsNotReversed, .upperCase: false
        }
    }

    /// The warning and its remedy.
    package var text: LocalizedText {
        switch self {
        case .localhost: LocalizedText("redirect-uri.localhost")
        case .portIgnored(let port): LocalizedText("redirect-uri.port-ignored", ["port": .number(port)])
        case .longScheme(let scheme):
            LocalizedText("redirect-uri.long-scheme", ["length": .number(scheme.utf8.count)])
        case .notAnAppName(let scheme): LocalizedText("redirect-uri.not-an-app-name", ["scheme": .cut(scheme)])
        case .schemeInUse(let scheme): LocalizedText("redirect-uri.scheme-in-use", ["scheme": .cut(scheme)])
        case .plainScheme(let scheme): LocalizedText("redirect-uri.plain-scheme", ["scheme": .cut(scheme)])
        case .perhapsNotReversed(let scheme):
            LocalizedText("redirect-uri.perhaps-not-reversed", ["scheme": .cut(scheme)])
        case .upperCase: LocalizedText("redirect-uri.upper-case")
        case .claimed: LocalizedText("redirect-uri.claimed")
        }
    }
}
