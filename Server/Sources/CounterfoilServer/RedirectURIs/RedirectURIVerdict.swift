package import CounterfoilProtocol
package import CounterfoilStore

/// The decision whether a URI may be registered as a redirect URI.
package enum RedirectURIVerdict: Sendable, Hashable {
    /// The URI may be registered; the warnings are about problems that it may cause.
    case accepted(RedirectURI, warnings: [RedirectURIWarning])
    case refused(RedirectURIRegistration.Refusal)
}

/// The facts about a client and the server on which the verdict on a redirect URI depends.
package struct RedirectURIContext: Sendable, Hashable {
    package var type: ClientType
    /// The identifier of the client; nil if the client is not registered yet.
    package var clientID: ClientIdentifier?
    /// The issuer of the server; nil before the first start of the server, when the issuer is not configured yet.
    package var issuer: Issuer?
    /// The second origin of the server, for callback URLs; nil if it has none.
    package var callbackOrigin: CallbackOrigin?
    /// The private-use schemes that are allowed although they contain no period (RFC 8252 §8.4), in lower case.
    package var plainSchemes: Set<String>
    /// The redirect URIs that may break the rules for private-use schemes: those that an administrator accepts exactly
    /// as they are, and those that are registered for the client already.
    package var acceptedURIs: Set<String>
    /// Whether the operator allows development redirect URIs.
    package var allowsDevelopment: Bool
    /// Whether the client is first-party, so that users are not asked for consent.
    package var isFirstParty: Bool
    /// The bundle identifiers of the client's Apple apps and the package names of its Android apps.
    package var appNames: Set<String>
    /// The private-use schemes of other clients of the same owner, in lower case.
    package var schemesInUse: Set<String>

    package init(
        type: ClientType,
        clientID: ClientIdentifier? = nil,
        issuer: Issuer? = nil,
        callbackOrigin: CallbackOrigin? = nil,
        plainSchemes: Set<String> = [],
        acceptedURIs: Set<String> = [],
        allowsDevelopment: Bool = true,
        isFirstParty: Bool = false,
        appNames: Set<String> = [],
        schemesInUse: Set<String> = []
    ) {
        self.type = type
        self.clientID = clientID
        self.issuer = issuer
        self.callbackOrigin = callbackOrigin
        self.plainSchemes = plainSchemes
        self.acceptedURIs = acceptedURIs
        self.allowsDevelopment = allowsDevelopment
        self.isFirstParty = isFirstParty
        self.appNames = appNames
        self.schemesInUse = schemesInUse
    }

    /// Collects the private-use schemes in the redirect URIs of clients, in lower case, for ``schemesInUse``.
    package static func schemes(of clients: some Sequence<RegisteredClient>) -> Set<String> {
        var schemes: Set<String> = []
        for uri in clients.lazy.flatMap(\.redirectURIs) {
            if case .privateUseScheme(let scheme) = uri.kind { schemes.insert(scheme.lowercased()) }
        }
        return schemes
    }
}

/// A warning about an accepted redirect URI, for the developer of the client.
package enum RedirectURIWarning: Localized, Hashable {
    /// The host is `localhost`, which may resolve to another machine than the user's device (RFC 8252 §8.3).
    case localhost
    /// The URI is a loopback URI with this port, but a request may use any other port too (RFC 8252 §7.3).
    case portIgnored(Int)
    /// The URI is a development redirect URI: the user is asked for consent at each request. If it has a port, a
    /// request must have the same port; if it has none, a request may have any port.
    case development(port: Int?)
    /// The scheme has more than 39 characters, the maximum on Windows (RFC 8252 appendix B.3).
    case longScheme(String)
    /// The scheme is neither a bundle identifier nor a package name of the client's apps (RFC 8252 §7.1).
    case notAnAppName(String)
    /// Another client of the same owner uses the scheme too (RFC 8252 §7.1).
    case schemeInUse(String)
    /// The scheme contains no period and is accepted only because the operator allows it.
    case plainScheme(String)
    /// The URI breaks the rules for its private-use scheme; it is accepted only because an administrator accepted it.
    case acceptedException(String)
    /// The scheme looks like a domain name that is not reversed: `example.com` instead of `com.example`.
    case perhapsNotReversed(String)
    /// The scheme or host contains capital letters, which browsers convert to lower case.
    case upperCase
    /// The URI is an https URI of a native client, and is not trusted until an administrator has marked it as
    /// verified.
    case claimed

    /// Whether the warning is about no risk, so that the console and the command line show it as a note.
    package var isNote: Bool {
        switch self {
        case .portIgnored, .development, .notAnAppName, .claimed: true
        case .localhost, .longScheme, .schemeInUse, .plainScheme, .acceptedException, .perhapsNotReversed,
            .upperCase:
            false
        }
    }

    /// The warning and its remedy.
    package var text: LocalizedText {
        switch self {
        case .localhost: LocalizedText("redirect-uri.localhost")
        case .portIgnored(let port): LocalizedText("redirect-uri.port-ignored", ["port": .number(port)])
        case .development(let port?):
            LocalizedText("redirect-uri.development-port", ["port": .number(port)])
        case .development(port: nil): LocalizedText("redirect-uri.development-any-port")
        case .longScheme(let scheme):
            LocalizedText("redirect-uri.long-scheme", ["length": .number(scheme.utf8.count)])
        case .notAnAppName(let scheme): LocalizedText("redirect-uri.not-an-app-name", ["scheme": .cut(scheme)])
        case .schemeInUse(let scheme): LocalizedText("redirect-uri.scheme-in-use", ["scheme": .cut(scheme)])
        case .plainScheme(let scheme): LocalizedText("redirect-uri.plain-scheme", ["scheme": .cut(scheme)])
        case .acceptedException(let scheme):
            LocalizedText("redirect-uri.accepted-exception", ["scheme": .cut(scheme)])
        case .perhapsNotReversed(let scheme):
            LocalizedText("redirect-uri.perhaps-not-reversed", ["scheme": .cut(scheme)])
        case .upperCase: LocalizedText("redirect-uri.upper-case")
        case .claimed: LocalizedText("redirect-uri.claimed")
        }
    }
}
