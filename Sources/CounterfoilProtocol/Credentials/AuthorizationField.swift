/// The value of an `Authorization` field: `auth-scheme [ 1*SP ( token68 / #auth-param ) ]` (RFC 9110 §11.4).
@_spi(Counterfoil) public struct AuthorizationField: Sendable, Hashable {
    /// The authentication scheme in lower case, because its case does not matter (RFC 9110 §11.1).
    public let scheme: String
    /// What follows the scheme and the spaces behind it; nil if anything but a space follows the scheme.
    public let credentials: String?

    /// Splits the value of a field.
    public init(_ field: String) {
        let text = field.utf8
        let name = text.prefix { $0.isTokenCharacter }
        scheme = String(name)?.lowercased() ?? ""
        let rest = text.dropFirst(name.count)
        let space = UInt8(ascii: " ")
        credentials = rest.isEmpty || rest.first == space ? String(rest.drop { $0 == space }) : nil
    }
}
