public import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol

/// The claims about a user, in an ID token, an access token or a UserInfo response.
///
/// OpenID Connect Core §5.1. The names must not be those of claims of the token itself, such as `iss` or `sub`. The
/// caller must ensure this, because this type does not check the names.
public struct UserClaims: Sendable, Hashable {
    /// The value of one claim about a user, with a case for each supported type.
    public enum Value: Sendable, Hashable {
        /// A string, for example of `name`.
        case text(String)
        /// A Boolean, for example of `email_verified`.
        case flag(Bool)
        /// A time, encoded in whole seconds, for example of `updated_at`.
        case time(Date)
        /// A postal address: the members of the JSON object, keyed by name (OpenID Connect Core §5.1.1).
        case address([String: String])
        /// A list of strings, for example of `groups` (RFC 9068 §2.2.3.1).
        case texts([String])
        /// A whole number.
        case integer(Int64)
    }

    /// The claim values, keyed by claim name, for example `email`.
    public var values: [String: Value]

    /// Creates claims from values keyed by claim name; the caller must not pass names such as `iss` or `sub`.
    public init(_ values: [String: Value] = [:]) { self.values = values }

    /// Returns the claims whose names are in the given set, for example the claims of a granted scope.
    public func named(_ names: Set<String>) -> UserClaims { UserClaims(values.filter { names.contains($0.key) }) }

    /// Encodes a UserInfo response as JSON: these claims and `sub` (OpenID Connect Core §5.3.2).
    public func encoded(subject: String) throws(SigningKey.Failure) -> [UInt8] {
        guard IDTokenClaims.isSubject(subject) else { throw .unusableClaim("sub") }
        var writer = JSONWriter()
        try writer.object { (writer: inout JSONWriter) throws(SigningKey.Failure) in
            writer.claim("sub", subject)
            try writer.claims(self)
        }
        return writer.bytes
    }
}

@_spi(Counterfoil) extension JSONWriter {
    /// Writes the claims about a user, sorted by name.
    public mutating func claims(_ claims: UserClaims) throws(SigningKey.Failure) {
        for (name, value) in claims.values.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .text(let text): member(name, text)
            case .flag(let flag): member(name, flag)
            case .time(let time): try claim(name, time)
            case .address(let parts): member(name, parts)
            case .texts(let texts): member(name, list: { writer in for text in texts { writer.element(text) } })
            case .integer(let integer): member(name, integer)
            }
        }
    }
}
