public import CounterfoilProtocol

/// The messages about redirect URIs: at registration, in a request, and in the preview.
public enum RedirectURIPhrase: String, LocalizationKey {
    // Texts that are no redirect URI at all.
    case tooLong = "redirect-uri.too-long"
    case relative = "redirect-uri.relative"
    case badCharacter = "redirect-uri.bad-character"
    case badPort = "redirect-uri.bad-port"
    case badAuthority = "redirect-uri.bad-authority"
    case fragment = "redirect-uri.fragment"
    case userInformation = "redirect-uri.user-information"
    case noHost = "redirect-uri.no-host"
    case insecure = "redirect-uri.insecure"
    case handledByBrowsers = "redirect-uri.handled-by-browsers"

    // Reasons for refusing the registration.
    case wildcard = "redirect-uri.wildcard"
    case dotSegments = "redirect-uri.dot-segments"
    case badQuery = "redirect-uri.bad-query"
    case reservedParameter = "redirect-uri.reserved-parameter"
    case ownOrigin = "redirect-uri.own-origin"
    case badHost = "redirect-uri.bad-host"
    case addressInsteadOfName = "redirect-uri.address-instead-of-name"
    case httpsOnTheDevice = "redirect-uri.https-on-the-device"
    case loopbackNotNative = "redirect-uri.loopback-not-native"
    case schemeNotNative = "redirect-uri.scheme-not-native"
    case noneForServices = "redirect-uri.none-for-services"
    case schemeWithoutPeriod = "redirect-uri.scheme-without-period"
    case schemeNotADomainName = "redirect-uri.scheme-not-a-domain-name"
    case registeredScheme = "redirect-uri.registered-scheme"
    case notASingleSlash = "redirect-uri.not-a-single-slash"

    // Warnings about a registered URI.
    case localhost = "redirect-uri.localhost"
    case portIgnored = "redirect-uri.port-ignored"
    case longScheme = "redirect-uri.long-scheme"
    case notAnAppName = "redirect-uri.not-an-app-name"
    case schemeInUse = "redirect-uri.scheme-in-use"
    case plainScheme = "redirect-uri.plain-scheme"
    case perhapsNotReversed = "redirect-uri.perhaps-not-reversed"
    case upperCase = "redirect-uri.upper-case"
    case claimed = "redirect-uri.claimed"

    // Reasons why a request has no valid redirect URI.
    case unusable = "redirect-uri.unusable"
    case notRegistered = "redirect-uri.not-registered"
    case ambiguous = "redirect-uri.ambiguous"
    case requiredByOpenID = "redirect-uri.required-by-openid"
    case portUnknown = "redirect-uri.port-unknown"
    case ownOriginRequested = "redirect-uri.own-origin-requested"

    // Reasons why a request, or an example of the preview, matches or does not.
    case leftOut = "redirect-uri.left-out"
    case same = "redirect-uri.preview.same"
    case portIsFree = "redirect-uri.preview.port-is-free"
    case alsoRegistered = "redirect-uri.preview.also-registered"
    case otherPort = "redirect-uri.preview.other-port"
    case otherHost = "redirect-uri.preview.other-host"
    case otherNameOfTheDevice = "redirect-uri.preview.other-name-of-the-device"
    case otherScheme = "redirect-uri.preview.other-scheme"
    case anotherScheme = "redirect-uri.preview.another-scheme"
    case otherPath = "redirect-uri.preview.other-path"
    case trailingSlash = "redirect-uri.preview.trailing-slash"
    case otherCase = "redirect-uri.preview.other-case"
    case otherQuery = "redirect-uri.preview.other-query"
    case defaultPort = "redirect-uri.preview.default-port"
    case doubleSlash = "redirect-uri.preview.double-slash"
}

extension LocalizedText {
    init(_ phrase: RedirectURIPhrase, scheme: String) {
        self.init(phrase, ["scheme": .text(String(scheme.prefix(100)))])
    }
}

extension RedirectURI.Refusal {
    /// The error and its remedy.
    public var text: LocalizedText {
        switch self {
        case .notAURI(let refusal): refusal.text
        case .hasFragment: LocalizedText(RedirectURIPhrase.fragment)
        case .hasUserInformation: LocalizedText(RedirectURIPhrase.userInformation)
        case .noHost: LocalizedText(RedirectURIPhrase.noHost)
        case .insecure: LocalizedText(RedirectURIPhrase.insecure)
        case .dangerousScheme(let scheme): LocalizedText(.handledByBrowsers, scheme: scheme)
        }
    }
}

extension AbsoluteURI.Refusal {
    fileprivate var text: LocalizedText {
        switch self {
        case .tooLong: LocalizedText(RedirectURIPhrase.tooLong, ["limit": .number(AbsoluteURI.byteLimit)])
        case .relative: LocalizedText(RedirectURIPhrase.relative)
        case .badCharacter: LocalizedText(RedirectURIPhrase.badCharacter)
        case .badPort: LocalizedText(RedirectURIPhrase.badPort)
        case .badAuthority: LocalizedText(RedirectURIPhrase.badAuthority)
        }
    }
}
