/// A value of `acr` or `acr_values` in the words of a sentence, such as "urn:counterfoil:acr:passkey (a passkey)".
///
/// The value comes from a server or an API, so control characters are removed, and a long one is cut.
package struct SpokenContext: Sendable, CustomStringConvertible {
    private let value: String

    package init(_ value: String) { self.value = value }

    package var description: String {
        let shown = String(value.prefix(100)).strippingControlCharacters
        return Self.meanings[value].map { "\(shown) (\($0))" } ?? shown
    }

    /// The meanings of the values of this package's server, of OpenID Connect Extended Authentication Profile ACR
    /// Values, and of OpenID Provider Authentication Policy Extension.
    private static let meanings = [
        "urn:counterfoil:acr:password": "a password",
        "urn:counterfoil:acr:two-factor": "two factors",
        "urn:counterfoil:acr:passkey": "a passkey",
        "phr": "phishing-resistant",
        "phrh": "phishing-resistant, with a key in hardware",
        "http://schemas.openid.net/pape/policies/2007/06/multi-factor": "two factors",
    ]
}
