import CounterfoilProtocol
import CounterfoilStore

/// The rules for private-use schemes (RFC 8252 §7.1): a scheme must be a reversed domain name of the developer,
/// and must not be a registered scheme.
enum PrivateUseScheme {
    /// The maximum length of a scheme that Windows supports, in characters (RFC 8252 appendix B.3).
    static let windowsLimit = 39

    static func check(
        _ scheme: String, of uri: RedirectURI, for context: RedirectURIContext
    ) throws(RedirectURIRegistration.Refusal) {
        // The operator has allowed these schemes and URIs, so the rules do not apply to them. The rule that requires a
        // single slash, for example, would refuse the redirect URIs of well-known editors, which begin with
        // `scheme://`.
        guard !context.plainSchemes.contains(scheme), !context.acceptedURIs.contains(uri.rawValue) else { return }
        try check(scheme, of: uri)
    }

    private static func check(_ scheme: String, of uri: RedirectURI) throws(RedirectURIRegistration.Refusal) {
        guard !RegisteredSchemes.contains(scheme) else { throw .registeredScheme(scheme) }
        // RFC 8252 §8.4: a private-use scheme must contain a period.
        guard scheme.utf8.contains(UInt8(ascii: ".")) else { throw .schemeWithoutPeriod(scheme) }
        guard DomainName.isReversed(scheme) else { throw .schemeNotADomainName(scheme) }
        // RFC 8252 §7.1: a single slash follows the scheme, because the URI has no authority.
        guard !uri.uri.hasAuthority, uri.uri.path.hasPrefix("/") else { throw .notASingleSlash }
    }

    static func warnings(
        of scheme: String, in uri: RedirectURI, for context: RedirectURIContext
    ) -> [RedirectURIWarning] {
        var warnings: [RedirectURIWarning] = []
        if context.plainSchemes.contains(scheme) {
            warnings.append(.plainScheme(scheme))
        } else if (try? check(scheme, of: uri)) == nil {
            warnings.append(.acceptedException(scheme))
        } else if DomainName.perhapsNotReversed(scheme) {
            warnings.append(.perhapsNotReversed(scheme))
        }
        // RFC 8252 appendix B.3: Windows does not support longer schemes.
        if scheme.utf8.count > windowsLimit { warnings.append(.longScheme(scheme)) }
        if context.schemesInUse.contains(scheme) { warnings.append(.schemeInUse(scheme)) }
        if !context.appNames.isEmpty, !context.appNames.contains(where: { $0.lowercased() == scheme }) {
            warnings.append(.notAnAppName(scheme))
        }
        return warnings
    }
}
