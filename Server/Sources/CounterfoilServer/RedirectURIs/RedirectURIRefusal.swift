public import CounterfoilProtocol

extension RedirectURIRegistration {
    /// The first rule that a URI breaks, so that it cannot be registered as a redirect URI.
    package enum Refusal: Error, Localized, Hashable, CustomStringConvertible {
        /// The text is not an absolute URI, or a rule for all redirect URIs excludes it, such as the one against
        /// fragments.
        case malformed(RedirectURI.Refusal)
        /// The URI has more than ``RedirectURIRegistration/byteLimit`` bytes.
        case tooLong
        /// The URI contains an asterisk, which is a wildcard on some other servers but is not supported by this server.
        case wildcard
        /// The path has a segment `.` or `..`, which browsers remove (RFC 3986 §6.2.2.3).
        case dotSegments
        /// The query is not form-encoded (`client/x-www-form-urlencoded`).
        case badQuery
        /// The query has a parameter with the given name, which authorization responses use.
        case reservedParameter(String)
        /// The URI leads to this server itself and is not the callback URL of the client.
        case ownOrigin
        /// The host is not a valid domain name.
        case badHost
        /// The host is an IP address, of which no developer can prove ownership.
        case ipAddressInsteadOfName
        /// The URI is an https URI with a loopback host, for which no trusted certificate exists.
        case httpsOnTheDevice
        /// The URI is an http URI at the user's device, but not at the address of the loopback interface that http URIs
        /// use, which is the associated value (RFC 8252 §7.3).
        case otherLoopbackAddress(LoopbackHost)
        /// The URI is a development redirect URI, but the operator does not allow them
        /// (``ServerSettings/allowsDevelopmentRedirectURIs``).
        case developmentOff
        /// The URI is a development redirect URI, but the client is first-party, so that users are not asked for
        /// consent.
        case developmentOfFirstParty
        /// The URI has a private-use scheme, which clients of this type cannot claim on a device (RFC 8252 §7.1).
        case schemeNotNative
        /// The client is a service, which has no redirect URIs.
        case noneForServices
        /// The scheme is a private-use scheme without a period (RFC 8252 §8.4).
        case schemeWithoutPeriod(String)
        /// The scheme is a private-use scheme but not a reversed domain name (RFC 8252 §7.1).
        case schemeNotADomainName(String)
        /// The scheme is registered at IANA, so it is no private-use scheme (RFC 8252 §7.1).
        case registeredScheme(String)
        /// The private-use scheme is not followed by exactly one slash (RFC 8252 §7.1).
        case notASingleSlash

        /// The error and its remedy, for the developer of the client.
        package var text: LocalizedText {
            switch self {
            case .malformed(let refusal): refusal.text
            case .tooLong:
                LocalizedText("redirect-uri.too-long", ["limit": .number(RedirectURIRegistration.byteLimit)])
            case .wildcard: LocalizedText("redirect-uri.wildcard")
            case .dotSegments: LocalizedText("redirect-uri.dot-segments")
            case .badQuery: LocalizedText("redirect-uri.bad-query")
            case .reservedParameter(let name):
                LocalizedText("redirect-uri.reserved-parameter", ["name": .cut(name)])
            case .ownOrigin: LocalizedText("redirect-uri.own-origin")
            case .badHost: LocalizedText("redirect-uri.bad-host")
            case .ipAddressInsteadOfName: LocalizedText("redirect-uri.ip-address-instead-of-name")
            case .httpsOnTheDevice: LocalizedText("redirect-uri.https-on-the-device")
            case .otherLoopbackAddress(let host):
                LocalizedText("redirect-uri.other-loopback-address", ["host": .text(host.rawValue)])
            case .developmentOff: LocalizedText("redirect-uri.development-off")
            case .developmentOfFirstParty: LocalizedText("redirect-uri.development-of-first-party")
            case .schemeNotNative: LocalizedText("redirect-uri.scheme-not-native")
            case .noneForServices: LocalizedText("redirect-uri.none-for-services")
            case .schemeWithoutPeriod(let scheme):
                LocalizedText("redirect-uri.scheme-without-period", ["scheme": .cut(scheme)])
            case .schemeNotADomainName(let scheme):
                LocalizedText("redirect-uri.scheme-not-a-domain-name", ["scheme": .cut(scheme)])
            case .registeredScheme(let scheme):
                LocalizedText("redirect-uri.registered-scheme", ["scheme": .cut(scheme)])
            case .notASingleSlash: LocalizedText("redirect-uri.not-a-single-slash")
            }
        }
    }
}

extension RedirectURI.Refusal: Localized {
    /// The error and its remedy, for the developer of the client.
    package var text: LocalizedText {
        switch self {
        case .notAURI(let refusal): refusal.text
        case .hasFragment: LocalizedText("redirect-uri.fragment")
        case .hasUserInformation: LocalizedText("redirect-uri.user-information")
        case .noHost: LocalizedText("redirect-uri.no-host")
        case .insecure: LocalizedText("redirect-uri.insecure")
        case .dangerousScheme(let scheme): LocalizedText("redirect-uri.handled-by-browsers", ["scheme": .cut(scheme)])
        }
    }
}

extension AbsoluteURI.Refusal: Localized {
    /// The error and its remedy, for the developer of the client.
    package var text: LocalizedText {
        switch self {
        case .tooLong: LocalizedText("redirect-uri.too-long", ["limit": .number(AbsoluteURI.byteLimit)])
        case .relative: LocalizedText("redirect-uri.relative")
        case .badCharacter: LocalizedText("redirect-uri.bad-character")
        case .badPort: LocalizedText("redirect-uri.bad-port")
        case .badAuthority: LocalizedText("redirect-uri.bad-authority")
        case .missingBrackets: LocalizedText("redirect-uri.missing-brackets")
        }
    }
}

extension LocalizedText.Value {
    /// Creates a value from the first 100 characters of a text that a user has entered.
    static func cut(_ text: String) -> LocalizedText.Value { .text(String(text.prefix(100))) }
}
