public import CounterfoilProtocol

extension RedirectURIRegistration {
    /// The reason why a URI is not registered.
    package enum Refusal: Error, Localized, Hashable, CustomStringConvertible {
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
            case .addressInsteadOfName: LocalizedText("redirect-uri.address-instead-of-name")
            case .httpsOnTheDevice: LocalizedText("redirect-uri.https-on-the-device")
            case .loopbackNotNative: LocalizedText("redirect-uri.loopback-not-native")
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
    /// The error and its remedy.
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
    /// The error and its remedy.
    package var text: LocalizedText {
        switch self {
        case .tooLong: LocalizedText("redirect-uri.too-long", ["limit": .number(AbsoluteURI.byteLimit)])
        case .relative: LocalizedText("redirect-uri.relative")
        case .badCharacter: LocalizedText("redirect-uri.bad-character")
        case .badPort: LocalizedText("redirect-uri.bad-port")
        case .badAuthority: LocalizedText("redirect-uri.bad-authority")
        }
    }
}

extension LocalizedText.Value {
    /// The beginning of a text that a user has sent, of any length.
    static func cut(_ text: String) -> LocalizedText.Value { .text(String(text.prefix(100))) }
}
